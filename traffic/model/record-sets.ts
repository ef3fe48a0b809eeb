/** Record sets of Route 53 in its own form, because records that are stored to be put back must lose nothing. */
import { isDeepStrictEqual } from 'node:util'
import type { Change, ResourceRecordSet } from '@aws-sdk/client-route-53'
import type { Plan, SideName } from './plan.ts'

/** Types of records that lead a host name somewhere. */
const LEADING: readonly string[] = ['A', 'AAAA', 'CNAME']
/** Seconds for which resolvers keep the answer of an alias record, as for the load balancer's own name. */
const ALIAS_TTL = 60
/** Routing policies besides simple and weighted: it is not clear what moving one of their records would mean. */
const OTHER_POLICIES = [
  ...(['Region', 'GeoLocation', 'Failover', 'MultiValueAnswer', 'CidrRoutingConfig'] as const),
  ...(['GeoProximityLocation', 'TrafficPolicyInstanceId'] as const),
]

/** A load balancer, as records name it. */
export interface Destination {
  readonly dnsName: string
  readonly zoneId: string
}
type Destinations = Readonly<Record<SideName, Destination>>

/** The values that a switch stores about the record that it moves. */
export interface RecordState {
  /** The previous records, for the way back. */
  readonly undo: readonly ResourceRecordSet[]
  readonly destinations: Destinations
  /** The target's share that was written last, 0 when the record is back, and the id of that change. */
  readonly share?: number
  readonly change?: string
  /** The time since which all name servers of the zone have the change, and how long resolvers may keep the previous records. */
  readonly inSyncAt?: string
  readonly ttlSeconds?: number
}

export const recordStateOf = (text: string | null): RecordState | undefined =>
  text === null ? undefined : (JSON.parse(text) as RecordState)

/** True only if the plan names a zone. In mode observe Weir never writes, so it does not write there either. */
export const drivesDns = ({ dns, mode }: Plan): boolean => dns.route53 !== undefined && mode !== 'observe'

/** The shares of the target in the order in which DNS answers get them; the last is all. */
export const sharesOf = ({ dns }: Plan): readonly number[] => dns.route53?.shares ?? [100]

/** A name as Route 53 writes it: with a dot at the end, and an asterisk as its octal code. */
export const nameInZone = (name: string): string =>
  `${name.toLowerCase().replace('*', '\\052')}${name.endsWith('.') ? '' : '.'}`
export const isSameName = (left: string, right: string): boolean => nameInZone(left) === nameInZone(right)
export const isInZone = (hostname: string, zone: string): boolean =>
  isSameName(hostname, zone) || nameInZone(hostname).endsWith(`.${nameInZone(zone)}`)

const DUAL_STACK = 'dualstack.'
/** The load balancer's name in one spelling, without the prefix `dualstack.`. */
const plainName = (name: string): string => {
  const lower = nameInZone(name)
  return lower.startsWith(DUAL_STACK) ? lower.slice(DUAL_STACK.length) : lower
}

export const leadingIn = (records: readonly ResourceRecordSet[]): readonly ResourceRecordSet[] =>
  records.filter(({ Type }) => LEADING.includes(Type!))

/** The names or addresses that a record leads to. */
const placesOf = ({ AliasTarget, ResourceRecords }: ResourceRecordSet): readonly string[] =>
  AliasTarget === undefined ? (ResourceRecords ?? []).map(({ Value }) => Value!) : [AliasTarget.DNSName!]

export const describeRecords = (records: readonly ResourceRecordSet[]): string =>
  records
    .map((record) => {
      const weight = record.Weight === undefined ? '' : ` (${record.SetIdentifier}, weight ${record.Weight})`
      return `${record.Type} ${placesOf(record).join(', ')}${weight}`
    })
    .join('; ') || 'no record'

export const leadsToBalancer = (record: ResourceRecordSet, { dnsName }: Destination): boolean =>
  placesOf(record).length === 1 && plainName(placesOf(record)[0]!) === plainName(dnsName)

/** A record with fixed addresses may lead anywhere; only the resolvers' answers tell. */
export const hasAddresses = ({ Type, AliasTarget }: ResourceRecordSet): boolean =>
  Type !== 'CNAME' && AliasTarget === undefined

export const isWeighted = ({ Weight }: ResourceRecordSet): boolean => Weight !== undefined

export const otherPolicy = (record: ResourceRecordSet): string | undefined =>
  OTHER_POLICIES.find((policy) => record[policy] !== undefined)

export const ttlOf = (records: readonly ResourceRecordSet[]): number =>
  Math.max(0, ...records.map(({ TTL, AliasTarget }) => TTL ?? (AliasTarget === undefined ? 0 : ALIAS_TTL)))

/** The same record, but leading to a load balancer: a CNAME stays one with its TTL, everything else becomes an alias. */
function ledTo(record: ResourceRecordSet, { dnsName, zoneId }: Destination): ResourceRecordSet {
  const { Name, Type, TTL, AliasTarget } = record
  if (Type === 'CNAME') return { Name, Type, TTL, ResourceRecords: [{ Value: dnsName }] }
  const prefix = AliasTarget?.DNSName?.toLowerCase().startsWith(DUAL_STACK) ? DUAL_STACK : ''
  return {
    Name,
    Type,
    AliasTarget: {
      HostedZoneId: zoneId,
      DNSName: nameInZone(`${prefix}${dnsName}`),
      EvaluateTargetHealth: AliasTarget?.EvaluateTargetHealth ?? true,
    },
  }
}

const weighted = (record: ResourceRecordSet, identifier: string, weight: number): ResourceRecordSet => ({
  ...record,
  SetIdentifier: record.SetIdentifier ?? identifier,
  Weight: weight,
})

/** The records with which the target gets this share of the answers; share 0 means the previous records. */
export function recordsOfShare(
  plan: Plan,
  { undo, destinations }: RecordState,
  share: number,
): readonly ResourceRecordSet[] {
  if (share === 0) return undo
  const { current, target } = destinations
  const [now, next] = [plan.current.cluster, plan.target.cluster]
  return LEADING.flatMap((type) => {
    const own = undo.filter(({ Type }) => Type === type)
    if (own.length === 0) return []
    const simple = own.find((record) => !isWeighted(record))
    if (simple !== undefined)
      return share === 100
        ? [ledTo(simple, target)]
        : [weighted(simple, now, 100 - share), weighted(ledTo(simple, target), next, share)]
    const from = own.find((record) => leadsToBalancer(record, current))!
    const to = own.find((record) => leadsToBalancer(record, target)) ?? ledTo(from, target)
    return [weighted(from, now, 100 - share), weighted(to, next, share)]
  })
}

/** After clean-up the old load balancer may have come back under another name; then the record has to lead there. */
export const withDestination = (state: RecordState, current: Destination): RecordState =>
  plainName(state.destinations.current.dnsName) === plainName(current.dnsName)
    ? state
    : {
        ...state,
        undo: state.undo.map((record) =>
          leadsToBalancer(record, state.destinations.current)
            ? { ...record, ...pick(ledTo(record, current), ['AliasTarget', 'ResourceRecords']) }
            : record,
        ),
        destinations: { ...state.destinations, current },
      }

const pick = (record: ResourceRecordSet, fields: readonly (keyof ResourceRecordSet)[]): ResourceRecordSet =>
  Object.fromEntries(
    fields.flatMap((field) => (record[field] === undefined ? [] : [[field, record[field]]])),
  ) as unknown as ResourceRecordSet

/** A form for comparisons: without undefined fields, and with names as Route 53 writes them. */
const plain = (record: ResourceRecordSet): unknown => {
  const copy = JSON.parse(JSON.stringify(record)) as ResourceRecordSet
  copy.Name = nameInZone(copy.Name!)
  if (copy.AliasTarget !== undefined) copy.AliasTarget.DNSName = nameInZone(copy.AliasTarget.DNSName!)
  return copy
}
const isSameRecord = (left: ResourceRecordSet, right: ResourceRecordSet): boolean =>
  isDeepStrictEqual(plain(left), plain(right))

export const isSameRecords = (left: readonly ResourceRecordSet[], right: readonly ResourceRecordSet[]): boolean =>
  left.length === right.length && left.every((record) => right.some((other) => isSameRecord(record, other)))

/**
 * The changes from the live records to the wanted ones. Everything is deleted as it was read and made again, in one batch. A
 * batch is carried out as a whole, and refused if somebody has changed a record in between.
 */
export const changesBetween = (
  live: readonly ResourceRecordSet[],
  wanted: readonly ResourceRecordSet[],
): readonly Change[] => [
  ...live.map((record) => ({ Action: 'DELETE' as const, ResourceRecordSet: record })),
  ...wanted.map((record) => ({ Action: 'CREATE' as const, ResourceRecordSet: record })),
]
