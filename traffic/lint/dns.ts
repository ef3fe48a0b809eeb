import type { ResourceRecordSet } from '@aws-sdk/client-route-53'
import type { Owner } from '../model/external-dns.ts'
import { type Finding, finding } from '../model/finding.ts'
import type { Plan, RoutePlan } from '../model/plan.ts'
import {
  type Destination,
  describeRecords,
  drivesDns,
  hasAddresses,
  isInZone,
  isWeighted,
  leadsToBalancer,
  otherPolicy,
  sharesOf,
} from '../model/record-sets.ts'

const FIELD = 'dns.route53'

/** Finds mistakes about the record that the plan alone shows. */
export function lintDns(plan: Plan): readonly Finding[] {
  if (plan.dns.route53 === undefined) return []
  const shares = sharesOf(plan)
  const findings: Finding[] = []
  if (!drivesDns(plan))
    findings.push(
      finding('TS-D05', FIELD, 'in mode observe Weir writes nothing: the record has to be moved by hand', 'warning'),
    )
  if (shares.at(-1) !== 100)
    findings.push(finding('TS-D05', `${FIELD}.shares`, `the last share is ${shares.at(-1) ?? 'missing'}, not 100`))
  if (shares.some((share, index) => index > 0 && share <= shares[index - 1]!))
    findings.push(finding('TS-D05', `${FIELD}.shares`, `${shares.join(', ')} does not grow from share to share`))
  return findings
}

/** The facts that Route 53 has about the host name. */
export interface RecordFacts {
  readonly zone: { readonly name: string } | undefined
  /** A, AAAA and CNAME records of the host name. */
  readonly records: readonly ResourceRecordSet[]
  readonly owners: readonly Owner[]
  /** Known if the load balancers exist. */
  readonly current: Destination | undefined
  readonly target: Destination | undefined
}

export function lintRecord(plan: RoutePlan, facts: RecordFacts): readonly Finding[] {
  const { hostname, route53 } = plan.dns
  const { zone, records, current } = facts
  if (zone === undefined)
    return [finding('TS-D02', `${FIELD}.hostedZoneId`, `there is no hosted zone ${route53!.hostedZoneId}`)]
  if (!isInZone(hostname, zone.name))
    return [finding('TS-D02', `${FIELD}.hostedZoneId`, `${hostname} is not a name of the zone ${zone.name}`)]
  if (records.length === 0)
    return [finding('TS-D03', 'dns.hostname', `the zone ${zone.name} has no A, AAAA or CNAME record of ${hostname}`)]
  const policies = records.flatMap((record) => otherPolicy(record) ?? [])
  if (policies.length > 0)
    return [
      finding('TS-D03', 'dns.hostname', `the record of ${hostname} has the routing policy ${policies.join(', ')}`),
    ]
  return [...lintOwners(plan, facts.owners), ...(current === undefined ? [] : lintPlaces(plan, facts, current))]
}

/** external-dns sets back the records that it owns, the next time it looks. */
export const lintOwners = ({ dns }: RoutePlan, owners: readonly Owner[]): readonly Finding[] =>
  owners.map(({ id, resource, record }) =>
    finding(
      'TS-D04',
      FIELD,
      `external-dns with the owner id ${id} made the record of ${dns.hostname} for ${resource} (TXT record ${record}); it would set the record back`,
    ),
  )

/** Only a record that leads to one of the two load balancers can be moved between them. */
function lintPlaces(plan: RoutePlan, { records, target }: RecordFacts, current: Destination): readonly Finding[] {
  const leads = (record: ResourceRecordSet, place: Destination | undefined) =>
    place !== undefined && leadsToBalancer(record, place)
  const foreign = records.filter(
    (record) => !leads(record, current) && !leads(record, target) && (isWeighted(record) || !hasAddresses(record)),
  )
  if (foreign.length > 0)
    return [
      finding(
        'TS-D03',
        'dns.hostname',
        `the record of ${plan.dns.hostname} leads elsewhere than to the load balancers of both clusters: ${describeRecords(foreign)}`,
      ),
    ]
  const twice = [...Map.groupBy(records.filter(isWeighted), ({ Type }) => Type).values()].filter(
    (group) => group.filter((record) => leads(record, current)).length !== 1,
  )
  return twice.map((group) =>
    finding(
      'TS-D03',
      'dns.hostname',
      `exactly one weighted record of each type must lead to the load balancer of the current cluster: ${describeRecords(group)}`,
    ),
  )
}
