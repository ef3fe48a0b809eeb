/** One credential of a pool: its value, its remaining quota, and the time until which it pauses or rests. */
import { UserError } from '../../errors.ts'
import { type Clock, orAborted } from './clock.ts'
import type { Quota } from './quota.ts'
import { createShare, type QuotaShare } from './quota-share.ts'

export interface RefreshedCredential {
  readonly value: string
  /** By the source's clock. */
  readonly expiresAt: Date
  /** The source's time when it gave the value. */
  readonly answeredAt?: Date
}
/** The value that has expired or was refused, if there was one, and the time by the source's clock. */
interface Worn {
  readonly value: string | undefined
  readonly now: number
}

/** A credential that expires, such as a GitHub App's installation token. A UserError from `refresh` ends its use. */
export interface RefreshingCredential {
  readonly name: string
  /** Distinguishes it from another credential with this name, which clients must not confuse with it. */
  readonly version?: string
  refresh(worn?: Worn): Promise<RefreshedCredential>
}

/** A plain token, or a credential that refreshes itself; several may be pooled. */
export type Credential = string | RefreshingCredential

export interface Slot {
  readonly name: string
  readonly source: Credential
  value: string | undefined
  /** Both by the source's clock. */
  refreshAt: number
  expiresAt: number
  /** Milliseconds by which our clock is ahead of the source's. */
  skew: number
  refreshing: Promise<string> | undefined
  /** The last value that the server refused, until it accepts a newer one. */
  refusedValue: string | undefined
  /** The credential was refused, and is not used before this time unless there is no other. */
  restsUntil: number
  /** Number of refusals in a row. */
  refusals: number
  loss: string
  /** Requests in progress, by class like the quotas. */
  readonly inFlight: Map<string, number>
  lastTaken: number
  readonly quotas: Map<string, { remaining: number; resetsAt: number }>
  /** By class: the share of this process in a quota that other processes use too. */
  readonly shares: Map<string, QuotaShare>
  /** End of a pause by class; '' stands for all classes. */
  readonly pauses: Map<string, number>
}

const REFRESH_MARGIN = 5 * 60_000
/** If the reset of a quota moves by less than this, it is still the same quota. */
const SAME_WINDOW = 5_000
/** Vendors give their time in whole seconds. */
const RESET_MARGIN = 1_000
/** A server may refuse a good credential while it restarts. But one that sees too many bad credentials may block us for ever. */
const FIRST_REST = 60_000
const LONGEST_REST = 3_600_000

export const isResting = ({ restsUntil }: Slot, clock: Clock): boolean => restsUntil > clock.now()

/** Stops using a credential for a while, longer each time. */
export function rest(slot: Slot, reason: string, clock: Clock): void {
  slot.restsUntil = clock.now() + Math.min(LONGEST_REST, FIRST_REST * 2 ** slot.refusals)
  slot.refusals++
  slot.loss = `${slot.name}: ${reason}`
  // A credential that refreshes itself starts again.
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
  // Answers may arrive out of order. Within one window, only the lowest count can be the latest.
  if (isSame) known.remaining = Math.min(known.remaining, quota.remaining)
  else quotas.set(className, { remaining: quota.remaining, resetsAt })
}

/** `place`: the server to which the quota belongs. A credential that refreshes itself is identified by its name and version. */
export function shareOf({ source, shares }: Slot, place: string, className: string): QuotaShare {
  const secret = typeof source === 'string' ? source : [source.name, source.version]
  const share = shares.get(className) ?? createShare([place, secret, className])
  shares.set(className, share)
  return share
}

/** Notes that other processes have used up the quota. */
export function spend({ quotas }: Slot, className: string, until: number): void {
  quotas.set(className, { remaining: 0, resetsAt: until })
}

/** Requests left, minus those in progress; infinite until the vendor has given a quota. */
export function remainingFor(slot: Slot, className: string, clock: Clock): number {
  const quota = quotaOf(slot, className, clock)
  return quota ? quota.remaining - (slot.inFlight.get(className) ?? 0) : Number.POSITIVE_INFINITY
}

/** The time when the slot may be used again; 0: now. */
export function readyAt(slot: Slot, className: string, clock: Clock): number {
  const quota = quotaOf(slot, className, clock)
  const spentUntil = quota && quota.remaining <= 0 ? quota.resetsAt + RESET_MARGIN : 0
  const at = Math.max(spentUntil, slot.pauses.get('') ?? 0, slot.pauses.get(className) ?? 0)
  return at > clock.now() ? at : 0
}

/** Returns the value of the credential, refreshed if it is about to expire. */
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

/** For a 401: false if the value will be refreshed and tried once more, or if the answer is about an older value. */
export function isRefusalFinal(slot: Slot, value: string): boolean {
  if (typeof slot.source === 'string') return true
  // Requests that were sent before the refresh may be refused after it, and say nothing about the new value.
  if (slot.value !== value || slot.refusedValue === value) return false
  if (slot.refusedValue !== undefined) return true
  slot.refusedValue = value
  slot.refreshAt = 0
  slot.expiresAt = 0
  return false
}

export function slotsOf(credentials: readonly Credential[]): readonly Slot[] {
  const sources = [...new Set(credentials.map((one) => (typeof one === 'string' ? one.trim() : one)).filter(Boolean))]
  // For a server without credentials, one empty credential is used.
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
