import { UserError } from '../../errors.ts'
import { type Clock, orAborted } from './clock.ts'
import type { Quota } from './quota.ts'

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

/** A credential taken for one request. */
export interface Lease {
  /** For messages: never the secret. */
  readonly name: string
  readonly value: string
  /** False once it was lost or spent after it was taken. */
  isUsable(): boolean
  observe(quota: Quota): void
  /** So many milliseconds is our clock ahead of the source's. */
  saw(skew: number): void
  pause(until: number, className?: string): void
  accepted(): void
  /** The server said 401: a refreshing credential is refreshed once, any other rests. True when its rest began now. */
  refused(reason: string): boolean
  release(): void
}

export interface TakeOptions {
  /** Names of credentials that this request has already failed with. */
  readonly except?: ReadonlySet<string>
  readonly prefer?: string | undefined
  /** Names of those that the server has refused whoever asks; the pool adds to them. To others a rest is no reason to give up. */
  readonly refused: Set<string>
  onWait(until: Date): void
  onLost(name: string, reason: string): void
}

export interface CredentialPool {
  readonly size: number
  /** The credential with most quota left; waits for the earliest reset when all are spent. Undefined when none is left to try. */
  take(className: string, signal: AbortSignal, options: TakeOptions): Promise<Lease | undefined>
  /** Every secret value in use, for redaction. */
  secrets(): readonly string[]
  /** Why credentials rest. */
  losses(): readonly string[]
  /** What all of them together still allow, by what the source said last; undefined while it has not. */
  requestsLeft(): number | undefined
}

interface Slot {
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

export function createCredentialPool(credentials: readonly Credential[], clock: Clock): CredentialPool {
  const slots = slotsOf(credentials)
  let takes = 0
  /** The class of requests that a quota was last told for. */
  let lastClass = ''
  let wake = Promise.withResolvers<void>()

  function changed() {
    wake.resolve()
    wake = Promise.withResolvers()
  }

  function rest(slot: Slot, reason: string): void {
    slot.restsUntil = clock.now() + Math.min(LONGEST_REST, FIRST_REST * 2 ** slot.refusals)
    slot.refusals++
    slot.loss = `${slot.name}: ${reason}`
    // What refreshes itself begins anew.
    slot.refusedValue = undefined
    slot.refreshAt = 0
    slot.expiresAt = 0
    changed()
  }

  const isResting = (slot: Slot) => slot.restsUntil > clock.now()

  function quotaOf(slot: Slot, className: string) {
    const quota = slot.quotas.get(className)
    if (quota && quota.resetsAt + RESET_MARGIN <= clock.now()) slot.quotas.delete(className)
    return slot.quotas.get(className)
  }

  /** Requests left, those under way taken off; infinite while the vendor has not said. */
  function left(slot: Slot, className: string): number {
    const quota = quotaOf(slot, className)
    return quota ? quota.remaining - (slot.inFlight.get(className) ?? 0) : Number.POSITIVE_INFINITY
  }

  /** When the slot may be used again, 0 for now. */
  function readyAt(slot: Slot, className: string): number {
    const quota = quotaOf(slot, className)
    const spentUntil = quota && quota.remaining <= 0 ? quota.resetsAt + RESET_MARGIN : 0
    const at = Math.max(spentUntil, slot.pauses.get('') ?? 0, slot.pauses.get(className) ?? 0)
    return at > clock.now() ? at : 0
  }

  function addInFlight(slot: Slot, className: string, more: 1 | -1) {
    slot.inFlight.set(className, (slot.inFlight.get(className) ?? 0) + more)
    if (more < 0) changed()
  }

  function choose(usable: readonly Slot[], className: string, prefer: string | undefined): Slot | undefined {
    const ready = usable.filter((slot) => readyAt(slot, className) === 0 && left(slot, className) > 0)
    const preferred = ready.find((slot) => slot.name === prefer)
    if (preferred) return preferred
    return ready.sort((a, b) => compare(left(b, className), left(a, className)) || a.lastTaken - b.lastTaken)[0]
  }

  async function currentValue(slot: Slot, signal: AbortSignal): Promise<string> {
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

  function lease(slot: Slot, value: string, className: string, refusedBefore: Set<string>): Lease {
    const { refusals } = slot
    return {
      name: slot.name,
      value,
      isUsable: () => slot.refusals === refusals && readyAt(slot, className) === 0,
      observe(quota) {
        const key = quota.class ?? className
        lastClass = key
        const known = slot.quotas.get(key)
        const resetsAt = quota.resetsAt.getTime()
        const isSame = known && Math.abs(known.resetsAt - resetsAt) < SAME_WINDOW
        if (known && !isSame && resetsAt < known.resetsAt) return
        // Answers overtake each other: within one window only the lowest count can be the latest.
        if (isSame) known.remaining = Math.min(known.remaining, quota.remaining)
        else slot.quotas.set(key, { remaining: quota.remaining, resetsAt })
      },
      saw(skew) {
        slot.skew = skew
      },
      pause(until, ofClass = '') {
        slot.pauses.set(ofClass, Math.max(until, slot.pauses.get(ofClass) ?? 0))
      },
      accepted() {
        if (slot.value === value) slot.refusedValue = undefined
        slot.refusals = 0
        slot.restsUntil = 0
      },
      refused(reason) {
        const isRefreshing = typeof slot.source !== 'string'
        // Requests sent before the refresh are refused late, and say nothing about the new value.
        if (isRefreshing && (slot.value !== value || slot.refusedValue === value)) return false
        if (isRefreshing && slot.refusedValue === undefined) {
          slot.refusedValue = value
          slot.refreshAt = 0
          slot.expiresAt = 0
          return false
        }
        refusedBefore.add(slot.name)
        // So are those that were sent before the rest.
        if (slot.refusals !== refusals) return false
        rest(slot, reason)
        return true
      },
      release: () => addInFlight(slot, className, -1),
    }
  }

  return {
    size: slots.length,
    async take(className, signal, { except, prefer, refused, onWait, onLost }) {
      for (;;) {
        signal.throwIfAborted()
        const possible = slots.filter((slot) => !except?.has(slot.name) && !(isResting(slot) && refused.has(slot.name)))
        const rested = possible.filter((slot) => !isResting(slot))
        const usable = rested.length > 0 ? rested : possible
        if (usable.length === 0) return undefined
        const slot = choose(usable, className, prefer)
        if (slot) {
          addInFlight(slot, className, 1)
          slot.lastTaken = ++takes
          const { refusals } = slot
          try {
            return lease(slot, await currentValue(slot, signal), className, refused)
          } catch (error) {
            addInFlight(slot, className, -1)
            if (!(error instanceof UserError)) throw error
            refused.add(slot.name)
            // Of those that waited for one refresh the first tells.
            if (slot.refusals !== refusals) continue
            rest(slot, error.message)
            onLost(slot.name, error.message)
            continue
          }
        }
        const until = Math.min(...usable.map((one) => readyAt(one, className)))
        if (until === 0) {
          // What is left is promised to requests under way; one of them will end.
          await orAborted(wake.promise, signal)
        } else {
          onWait(new Date(until))
          await clock.sleep(until - clock.now(), signal)
        }
      }
    },
    secrets: () =>
      slots.flatMap(({ source, value }) => (typeof source === 'string' ? source : (value ?? []))).filter(Boolean),
    losses: () => slots.filter(isResting).map(({ loss }) => loss),
    requestsLeft() {
      const quotas = slots.flatMap((slot) => quotaOf(slot, lastClass) ?? [])
      return quotas.length === 0 ? undefined : quotas.reduce((sum, { remaining }) => sum + remaining, 0)
    },
  }
}

const compare = (a: number, b: number) => (a === b ? 0 : a - b)

function slotsOf(credentials: readonly Credential[]): readonly Slot[] {
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
    pauses: new Map(),
  }))
}
