import type { ResourceRecordSet } from '@aws-sdk/client-route-53'
import { hasLostMemory } from '../engine/route-memory.ts'
import { lintOwners, lintRecord, type RecordFacts } from '../lint/dns.ts'
import { ownersIn, registryNames } from '../model/external-dns.ts'
import { type Finding, refuseErrors, TrafficError } from '../model/finding.ts'
import type { SideName } from '../model/plan.ts'
import {
  changesBetween,
  type Destination,
  describeRecords,
  drivesDns,
  isSameRecords,
  leadingIn,
  leadsToBalancer,
  type RecordState,
  recordStateOf,
  recordsOfShare,
  sharesOf,
  ttlOf,
  withDestination,
} from '../model/record-sets.ts'
import { type Effect, type EffectContext, loadBalancerHostname, meetDrift } from './effect.ts'

const stateOf = ({ row }: EffectContext): RecordState | undefined => recordStateOf(row().dns_record)
const zoneIdOf = ({ plan }: EffectContext): string => plan.dns.route53!.hostedZoneId

async function destinationOf({ plan, outside }: EffectContext, side: SideName): Promise<Destination | undefined> {
  const hostname = loadBalancerHostname(await outside[side].ingress(plan[side].namespace, plan[side].ingress.name))
  return hostname === undefined ? undefined : outside.balancer.loadBalancer(hostname)
}

const liveRecords = async (context: EffectContext): Promise<readonly ResourceRecordSet[]> =>
  leadingIn(await context.outside.zones.records(zoneIdOf(context), context.plan.dns.hostname))

async function ownersOf(context: EffectContext): Promise<RecordFacts['owners']> {
  const { plan, outside } = context
  const names = registryNames(plan.dns.hostname, plan.dns.route53!)
  const found = await Promise.all(names.map((name) => outside.zones.records(zoneIdOf(context), name)))
  return ownersIn(found.flat())
}

async function factsOf(context: EffectContext): Promise<RecordFacts> {
  const zone = await context.outside.zones.zone(zoneIdOf(context))
  const [current, target] = await Promise.all([destinationOf(context, 'current'), destinationOf(context, 'target')])
  if (zone === undefined) return { zone, records: [], owners: [], current, target }
  const [records, owners] = await Promise.all([liveRecords(context), ownersOf(context)])
  return { zone, records, owners, current, target }
}

/** These findings are reported before anything is changed, not after all traffic has moved. */
export const recordFindings = async (context: EffectContext): Promise<readonly Finding[]> =>
  drivesDns(context.plan) ? lintRecord(context.plan, await factsOf(context)) : []

/**
 * The records as they are, and where they shall lead. Undefined when they already lead to the target; a text when a load
 * balancer has no name yet.
 */
async function freshState(context: EffectContext): Promise<RecordState | string | undefined> {
  const facts = await factsOf(context)
  const { records, current, target } = facts
  refuseErrors('The DNS record', lintRecord(context.plan, facts))
  if (current === undefined) return 'the load balancer of the current cluster has no name'
  if (target === undefined) return 'the load balancer of the target cluster has no name yet'
  if (records.every((record) => leadsToBalancer(record, target))) return undefined
  return { undo: records, destinations: { current: placeOf(current), target: placeOf(target) } }
}
const placeOf = ({ dnsName, zoneId }: Destination): Destination => ({ dnsName, zoneId })

/** Stores the previous records before anything is changed. */
export function recordKept(context: EffectContext): Effect {
  let kept: RecordState | undefined
  return {
    name: 'dns-undo',
    async missing() {
      kept = undefined
      if (stateOf(context) !== undefined) return undefined
      const fresh = await freshState(context)
      if (typeof fresh === 'string') return fresh
      kept = fresh
      return undefined
    },
    learned: () => (kept === undefined ? {} : { dns_record: JSON.stringify(kept) }),
  }
}

/** Leads back to the old load balancer, or to the one that has come back in its place. */
async function stateBack(context: EffectContext, state: RecordState): Promise<RecordState | undefined> {
  const { dnsName } = state.destinations.current
  if ((await context.outside.balancer.loadBalancer(dnsName)) !== undefined) return state
  const current = await destinationOf(context, 'current')
  return current === undefined ? undefined : withDestination(state, placeOf(current))
}

/** Makes the record give the target this share of the answers; share 0 puts back the previous records. */
export function recordMoved(context: EffectContext, share: number): Effect {
  const { plan, outside, row } = context
  let state: RecordState
  let live: readonly ResourceRecordSet[] = []
  let wanted: readonly ResourceRecordSet[] = []
  let change: string | undefined
  const isKnown = (): boolean =>
    [0, ...sharesOf(plan)].some((each) => isSameRecords(live, recordsOfShare(plan, state, each)))
  return {
    name: `dns-record-${share}`,
    isRepeated: share === 0,
    async missing() {
      const stored = stateOf(context) ?? (await freshState(context))
      if (stored === undefined || typeof stored === 'string') return stored
      const back = share === 0 ? await stateBack(context, stored) : stored
      if (back === undefined) return 'the load balancer of the current cluster has no name yet'
      state = back
      live = await liveRecords(context)
      wanted = recordsOfShare(plan, state, share)
      if (isSameRecords(live, wanted)) {
        const isUntouched = share === 0 && state.share === undefined
        const isTold = change !== undefined || (state.share === share && state.change !== undefined)
        if (isUntouched || isTold) return undefined
        // The process that made the change was killed before it could store which. Made once more, the change can be waited for.
        return 'it is not known whether all name servers have the record'
      }
      if (!isKnown())
        meetDrift(
          context,
          `the record of ${plan.dns.hostname} is neither what stood there before nor what Weir wrote.\n  live:    ${describeRecords(live)}\n  before:  ${describeRecords(state.undo)}\n  written: ${state.share === undefined ? '(nothing)' : describeRecords(recordsOfShare(plan, state, state.share))}`,
        )
      if (share > 0) refuseErrors('The DNS record', lintOwners(plan, await ownersOf(context)))
      return `the record of ${plan.dns.hostname} is ${describeRecords(live)}; wanted ${describeRecords(wanted)}`
    },
    async apply(dryRun) {
      if (dryRun || wanted.length + live.length === 0) return
      const comment = `Weir: switch ${row().id}, ${share} % of the answers lead to ${plan.target.cluster}`
      change = await outside.zones.change(zoneIdOf(context), changesBetween(live, wanted), comment)
    },
    learned() {
      if (change === undefined) return {}
      const { undo, destinations } = state
      // A resolver may have seen any of these records. After the longest TTL it has forgotten them all.
      const ttlSeconds = ttlOf([...undo, ...live, ...wanted])
      const next: RecordState = { undo, destinations, share, change, ttlSeconds }
      return { dns_record: JSON.stringify(next) }
    },
  }
}

export function changeInSync(context: EffectContext, share: number): Effect {
  return {
    name: `dns-in-sync-${share}`,
    async missing() {
      const change = stateOf(context)?.change
      if (change === undefined) return undefined
      return (await context.outside.zones.isInSync(change)) === false
        ? `Route 53 has not told all its name servers about change ${change} yet`
        : undefined
    },
    learned() {
      const state = stateOf(context)
      if (state?.change === undefined || state.inSyncAt !== undefined) return {}
      return { dns_record: JSON.stringify({ ...state, inSyncAt: nowOf(context).toISOString() }) }
    },
  }
}

const nowOf = ({ now }: EffectContext): Date => now?.() ?? new Date()

/** Seconds for which resolvers may still answer with the previous records. */
function ttlLeft(context: EffectContext): number {
  const { inSyncAt, ttlSeconds = 0 } = stateOf(context) ?? {}
  if (inSyncAt === undefined) return 0
  return Math.max(0, Math.ceil((Date.parse(inSyncAt) + ttlSeconds * 1000 - nowOf(context).getTime()) / 1000))
}

/** Only for the way back. It is not waited for, because somebody is waiting and the important part is done. */
function ttlOver(context: EffectContext): Effect {
  return {
    name: 'dns-ttl',
    isInstant: true,
    async missing() {
      const left = ttlLeft(context)
      return left === 0
        ? undefined
        : `weights and record are back, but resolvers may lead to the target cluster for ${left} s more. The running server finishes the rollback, or repeat it then`
    },
  }
}

/**
 * The name may have left the current load balancer, by hand or through Weir. If the stored values of the routes cannot be read,
 * it has to be looked up.
 */
export const isNameMoved = ({ row }: Pick<EffectContext, 'row'>): boolean =>
  row().dns_confirmed_at !== null || row().dns_record !== null || hasLostMemory(row())

export const recordBack = (context: EffectContext, isChecked: boolean): readonly Effect[] =>
  drivesDns(context.plan) && stateOf(context) !== undefined
    ? [recordMoved(context, 0), changeInSync(context, 0), ...(isChecked ? [ttlOver(context)] : [])]
    : []

/** Shares that a move of the record still has to write, beginning with the one that is already written, or with the first. */
export const sharesLeft = (context: EffectContext): readonly number[] => {
  const written = stateOf(context)?.share ?? 0
  return sharesOf(context.plan).filter((share) => share >= written)
}

export function requireTtlOver(context: EffectContext): void {
  const left = ttlLeft(context)
  if (left > 0)
    throw new TrafficError(
      'gate',
      `The record of ${context.plan.dns.hostname} is changed. Wait ${left} s more, until resolvers have forgotten the old one, then repeat.`,
    )
}
