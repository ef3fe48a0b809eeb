/** One credential of a pool: its value, what is left of its quota, and until when it pauses or rests. */
import { UserError } from '../../errors.ts'
import { type Clock, orAborted } from './clock.ts'
import type { Quota } from './quota.ts'
import { createShare, type QuotaShare } from './quota-share.ts'

export interface RefreshedCredential {
  readonly value: string
  /** By the source's clock. */
  readonly expiresAt: Date
  /** What the source's clock said when it gave the value. */
  readonly answeredAt?: Date
}
/** The value that has run out or was refused, if there was one, and what the source's clock says. */
export interface Worn {
  readonly value: string | undefined
  readonly now: number
}

/** A credential that expires, such as a GitHub App's installation token. A UserError from `refresh` ends its use. */
export interface RefreshingCredential {
  readonly name: string
  /** Tells it from another of this name, which clients must not take for it. */
  readonly version?: string
  refresh(worn?: Worn): Promise<RefreshedCredential>
}

/** A token as it is; several may be pooled. */
export type Credential = string | RefreshingCredential

export interface Slot {
  readonly name: string
  readonly source: Credential
  value: string | undefined
  /** Both by the source's clock. */
  refreshAt: number
  expiresAt: number
  /** How far our clock is ahead of it. */
  skew: number
  refreshing: Promise<string> | undefined
  /** The value that the server refused last, until it accepts a newer one. */
  refusedValue: string | undefined
  /** Refused, and not asked again before, unless there is no other. */
  restsUntil: number
  /** How often in a row. */
  refusals: number
  loss: string
  /** By class, as the quotas are. */
  readonly inFlight: Map<string, number>
  lastTaken: number
  readonly quotas: Map<string, { remaining: number; resetsAt: number }>
  /** By class: what this process holds of a quota that others share. */
  readonly shares: Map<string, QuotaShare>
  /** By class; '' stands for all. */
  readonly pauses: Map<string, number>
}

const REFRESH_MARGIN = 5 * 60_000
/** A quota whose reset moved by less is still the same one. */
const SAME_WINDOW = 5_000
/** Vendors tell their clock in whole seconds. */
const RESET_MARGIN = 1_000
/** A server that is being restarted may refuse what is good; one that sees too many bad credentials may refuse us for good. */
const FIRST_REST = 60_000
const LONGEST_REST = 3_600_000

export const isResting = ({ restsUntil }: Slot, clock: Clock): boolean => restsUntil > clock.now()

/** Leaves it alone for a while, longer each time. */
export function rest(slot: Slot, reason: string, clock: Clock): void {
  slot.restsUntil = clock.now() + Math.min(LONGEST_REST, FIRST_REST * 2 ** slot.refusals)
  slot.refusals++
  slot.loss = `${slot.name}: ${reason}`
  // What refreshes itself starts again.
  slot.refusedValue = undefined
  slot.refreshAt = 0
  slot.expiresAt = 0
}

export function quotaOf({ quotas }: Slot, className: string, clock: Clock) {
  const quota = quotas.get(className)
  if (quota && quota.resetsAt + RESET_MARGIN <= clock.now()) quotas.delete(className)
  return quotas.get(className)
}

export function observe({ quotas }: Slot, className: string, quota: Quota): void {
  const known = quotas.get(className)
  const resetsAt = quota.resetsAt.getTime()
  const isSame = known && Math.abs(known.resetsAt - resetsAt) < SAME_WINDOW
  if (known && !isSame && resetsAt < known.resetsAt) return
  // Answers overtake each other: within one window only the lowest count can be the latest.
  if (isSame) known.remaining = Math.min(known.remaining, quota.remaining)
  else quotas.set(className, { remaining: quota.remaining, resetsAt })
}

/** `place`: the server whose quota it is. A credential that refreshes itself is known by its name. */
export function shareOf({ source, shares }: Slot, place: string, className: string): QuotaShare {
  const secret = typeof source === 'string' ? source : [source.name, source.version]
  const share = shares.get(className) ?? createShare([place, secret, className])
  shares.set(className, share)
  return share
}

/** Others have used it up. */
export function spend({ quotas }: Slot, className: string, until: number): void {
  quotas.set(className, { remaining: 0, resetsAt: until })
}

/** Requests left, those under way taken off; infinite while the vendor has not said. */
export function remainingFor(slot: Slot, className: string, clock: Clock): number {
  const quota = quotaOf(slot, className, clock)
  return quota ? quota.remaining - (slot.inFlight.get(className) ?? 0) : Number.POSITIVE_INFINITY
}

/** When the slot may be used again, 0 for now. */
export function readyAt(slot: Slot, className: string, clock: Clock): number {
  const quota = quotaOf(slot, className, clock)
  const spentUntil = quota && quota.remaining <= 0 ? quota.resetsAt + RESET_MARGIN : 0
  const at = Math.max(spentUntil, slot.pauses.get('') ?? 0, slot.pauses.get(className) ?? 0)
  return at > clock.now() ? at : 0
}

/** Its value, refreshed where it runs out. */
export async function currentValue(slot: Slot, clock: Clock, signal: AbortSignal): Promise<string> {
  const { source } = slot
  if (typeof source === 'string') return source
  const theirNow = () => clock.now() - slot.skew
  if (slot.value !== undefined && theirNow() < slot.refreshAt) return slot.value
  slot.refreshing ??= source
    .refresh({ value: slot.value, now: theirNow() })
    .then(({ value, expiresAt, answeredAt }) => {
      if (answeredAt) slot.skew = clock.now() - answeredAt.getTime()
      const now = theirNow()
      slot.value = value
      slot.expiresAt = expiresAt.getTime()
      slot.refreshAt = slot.expiresAt - Math.min(REFRESH_MARGIN, (slot.expiresAt - now) / 2)
      return value
    })
    .finally(() => {
      slot.refreshing = undefined
    })
  try {
    return await orAborted(slot.refreshing, signal)
  } catch (error) {
    const stillValid = slot.value !== undefined && theirNow() < slot.expiresAt
    if (signal.aborted || !stillValid || error instanceof UserError) throw error
    return slot.value!
  }
}

/** After a 401: false where the value is refreshed and tried once more, or where the answer is about an older value. */
export function isRefusalFinal(slot: Slot, value: string): boolean {
  if (typeof slot.source === 'string') return true
  // Requests sent before the refresh are refused late, and say nothing about the new value.
  if (slot.value !== value || slot.refusedValue === value) return false
  if (slot.refusedValue !== undefined) return true
  slot.refusedValue = value
  slot.refreshAt = 0
  slot.expiresAt = 0
  return false
}

export function slotsOf(credentials: readonly Credential[]): readonly Slot[] {
  const sources = [...new Set(credentials.map((one) => (typeof one === 'string' ? one.trim() : one)).filter(Boolean))]
  // A server that asks for no credential is served by one that is empty.
  if (sources.length === 0) sources.push('')
  return sources.map((source, index) => ({
    name: typeof source === 'string' ? `token ${index + 1} of ${sources.length}` : source.name,
    source,
    value: undefined,
    refreshAt: 0,
    expiresAt: 0,
    skew: 0,
    refreshing: undefined,
    refusedValue: undefined,
    restsUntil: 0,
    refusals: 0,
    loss: '',
    inFlight: new Map(),
    lastTaken: 0,
    quotas: new Map(),
    shares: new Map(),
    pauses: new Map(),
  }))
}
