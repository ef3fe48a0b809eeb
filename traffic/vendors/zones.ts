import type { Change, ResourceRecordSet, Route53Client } from '@aws-sdk/client-route-53'
import { loadRoute53 } from 'weir-traffic'
import { messageOf, RetryableError } from '../core.ts'
import { isSameName, nameInZone } from '../model/record-sets.ts'
import { orAbsent, patience, translate } from './aws-answers.ts'
import { type AnswerClock, observed } from './aws-client.ts'
import { CALL_MS } from './call-time.ts'

interface Zone {
  readonly name: string
}

export interface Zones {
  zone(id: string): Promise<Zone | undefined>
  /** Every record set of exactly this name, as Route 53 has it. */
  records(zoneId: string, name: string): Promise<readonly ResourceRecordSet[]>
  /** All changes are made or none. Deleting a record that has changed since it was read is refused, and worth another look. */
  change(zoneId: string, changes: readonly Change[], comment: string): Promise<string>
  /** Tells whether every name server of the zone has the change; undefined if the change is too old to be known. */
  isInSync(changeId: string): Promise<boolean | undefined>
}

const PAGE = 100

export async function openZones(region: string, callMs = CALL_MS, clock?: AnswerClock): Promise<Zones> {
  const aws = await loadRoute53()
  // Credentials and endpoint come from the usual chain: AWS_PROFILE, AWS_ENDPOINT_URL_ROUTE_53 …
  const client: Route53Client = observed(new aws.Route53Client({ region, ...patience(callMs) }), 'route53', clock)
  return {
    zone: (id) =>
      translate(`read hosted zone ${id}`, async () => {
        const answer = await orAbsent(client.send(new aws.GetHostedZoneCommand({ Id: id })), undefined)
        return answer === undefined ? undefined : { name: answer.HostedZone!.Name! }
      }),
    records: (zoneId, name) =>
      translate(`read the records of ${name} in hosted zone ${zoneId}`, async () => {
        const found: ResourceRecordSet[] = []
        let start: object = { StartRecordName: nameInZone(name) }
        for (;;) {
          const page = await client.send(
            new aws.ListResourceRecordSetsCommand({ HostedZoneId: zoneId, MaxItems: PAGE, ...start }),
          )
          const own = (page.ResourceRecordSets ?? []).filter((record) => isSameName(record.Name!, name))
          found.push(...own)
          // Records of one name are adjacent: after the first other name there are none.
          if (!page.IsTruncated || !isSameName(page.NextRecordName ?? '', name)) return found
          start = {
            StartRecordName: page.NextRecordName,
            StartRecordType: page.NextRecordType,
            StartRecordIdentifier: page.NextRecordIdentifier,
          }
        }
      }),
    change: (zoneId, changes, comment) =>
      translate(`change records in hosted zone ${zoneId}`, async () => {
        const ChangeBatch = { Comment: comment, Changes: [...changes] }
        try {
          const request = new aws.ChangeResourceRecordSetsCommand({ HostedZoneId: zoneId, ChangeBatch })
          return (await client.send(request)).ChangeInfo!.Id!
        } catch (error) {
          if (error instanceof aws.InvalidChangeBatch && isStale(error))
            throw new RetryableError(`The record changed meanwhile: ${describeBatch(error)}`, { cause: error })
          throw error
        }
      }),
    isInSync: (changeId) =>
      translate(`read change ${changeId}`, async () => {
        const answer = await orAbsent(client.send(new aws.GetChangeCommand({ Id: changeId })), undefined)
        return answer === undefined ? undefined : answer.ChangeInfo!.Status === 'INSYNC'
      }),
  }
}

const describeBatch = (error: Error & { messages?: string[] | undefined }): string =>
  [messageOf(error), ...(error.messages ?? [])].filter((text) => text !== '').join('; ')

/** True if a record to delete is not there as it was, or a record to create is there already. */
const isStale = (error: Error): boolean =>
  /not found|do not match|already exists|conflicts with/i.test(describeBatch(error))
