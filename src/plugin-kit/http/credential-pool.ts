import { UserError } from '../../errors.ts'
import type { BudgetStore } from './budget-store.ts'
import { type Clock, orAborted } from './clock.ts'
import {
  type Credential,
  currentValue,
  isRefusalFinal,
  isResting,
  observe,
  quotaOf,
  readyAt,
  remainingFor,
  rest,
  type Slot,
  shareOf,
  slotsOf,
  spend,
} from './credential-slot.ts'
import type { Quota } from './quota.ts'
import { endOne, type Permit, reserveOne, type Told } from './quota-share.ts'

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
  /** Where what is left is shared with other processes. */
  readonly store?: BudgetStore | undefined
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

/** What the slots of a pool share. */
interface Pool {
  /** The server whose quotas these are. */
  readonly place: string
  readonly slots: readonly Slot[]
  readonly clock: Clock
  /** The class of requests that a quota was last told for. */
  lastClass: string
  takes: number
  /** Resolved when a slot may have become free. */
  wake: PromiseWithResolvers<void>
}

export function createCredentialPool(credentials: readonly Credential[], clock: Clock, place = ''): CredentialPool {
  const slots = slotsOf(credentials)
  const pool: Pool = { place, slots, clock, lastClass: '', takes: 0, wake: Promise.withResolvers<void>() }
  return {
    size: slots.length,
    async take(className, signal, options) {
      for (;;) {
        signal.throwIfAborted()
        const usable = usableSlots(pool, options)
        if (usable.length === 0) return undefined
        const slot = choose(pool, usable, className, options.prefer)
        const lease = slot && (await takeSlot(pool, slot, className, signal, options))
        if (lease) return lease
        if (!slot) await becomeReady(pool, usable, className, signal, options.onWait)
      }
    },
    secrets: () =>
      slots.flatMap(({ source, value }) => (typeof source === 'string' ? source : (value ?? []))).filter(Boolean),
    losses: () => slots.filter((slot) => isResting(slot, clock)).map(({ loss }) => loss),
    requestsLeft() {
      const quotas = slots.flatMap((slot) => quotaOf(slot, pool.lastClass, clock) ?? [])
      return quotas.length === 0 ? undefined : quotas.reduce((sum, { remaining }) => sum + remaining, 0)
    },
  }
}

/** Those that rest are used only where there is no other. */
function usableSlots({ slots, clock }: Pool, { except, refused }: TakeOptions): readonly Slot[] {
  const possible = slots.filter(
    (slot) => !except?.has(slot.name) && !(isResting(slot, clock) && refused.has(slot.name)),
  )
  const rested = possible.filter((slot) => !isResting(slot, clock))
  return rested.length > 0 ? rested : possible
}

function choose({ clock }: Pool, usable: readonly Slot[], className: string, prefer: string | undefined) {
  const remaining = (slot: Slot) => remainingFor(slot, className, clock)
  const ready = usable.filter((slot) => readyAt(slot, className, clock) === 0 && remaining(slot) > 0)
  const preferred = ready.find((slot) => slot.name === prefer)
  return preferred ?? ready.sort((a, b) => compare(remaining(b), remaining(a)) || a.lastTaken - b.lastTaken)[0]
}

const compare = (a: number, b: number) => (a === b ? 0 : a - b)

/** Undefined where its value cannot be refreshed: it rests then. */
async function takeSlot(
  pool: Pool,
  slot: Slot,
  className: string,
  signal: AbortSignal,
  { refused, onLost, store }: TakeOptions,
): Promise<Lease | undefined> {
  const permit = store && (await reserve(pool, slot, className, signal, store))
  if (store && !permit) return undefined
  const end = (told: Told) =>
    store && permit && endOne(shareOf(slot, pool.place, className), permit, store, pool.clock, told)
  addInFlight(pool, slot, className, 1)
  slot.lastTaken = ++pool.takes
  const { refusals } = slot
  try {
    return leaseOf(pool, slot, await currentValue(slot, pool.clock, signal), className, refused, end)
  } catch (error) {
    addInFlight(pool, slot, className, -1)
    end(undefined)
    if (!(error instanceof UserError)) throw error
    refused.add(slot.name)
    // Of those that waited for one refresh the first tells.
    if (slot.refusals !== refusals) return undefined
    restAndWake(pool, slot, error.message)
    onLost(slot.name, error.message)
    return undefined
  }
}

/** Undefined: others have spent the quota, or find out what there is. */
async function reserve(
  { clock, place }: Pool,
  slot: Slot,
  className: string,
  signal: AbortSignal,
  store: BudgetStore,
): Promise<Permit | undefined> {
  const reserved = await reserveOne(shareOf(slot, place, className), store, clock, signal)
  if ('isProbe' in reserved) return reserved
  if (reserved.spentUntil !== undefined) spend(slot, className, reserved.spentUntil)
  return undefined
}

async function becomeReady(
  { clock, wake }: Pool,
  usable: readonly Slot[],
  className: string,
  signal: AbortSignal,
  onWait: (until: Date) => void,
): Promise<void> {
  const until = Math.min(...usable.map((slot) => readyAt(slot, className, clock)))
  // What is left is promised to requests under way; one of them will end.
  if (until === 0) return orAborted(wake.promise, signal)
  onWait(new Date(until))
  await clock.sleep(until - clock.now(), signal)
}

function leaseOf(
  pool: Pool,
  slot: Slot,
  value: string,
  className: string,
  refusedBefore: Set<string>,
  end: (told: Told) => void,
): Lease {
  const { refusals } = slot
  let told: Told
  return {
    name: slot.name,
    value,
    isUsable: () => slot.refusals === refusals && readyAt(slot, className, pool.clock) === 0,
    observe(quota) {
      pool.lastClass = quota.class ?? className
      if (pool.lastClass === className) told = quota
      observe(slot, pool.lastClass, quota)
    },
    saw(skew) {
      slot.skew = skew
    },
    pause(until, ofClass = '') {
      slot.pauses.set(ofClass, Math.max(until, slot.pauses.get(ofClass) ?? 0))
    },
    accepted() {
      told ??= 'nothing'
      if (slot.value === value) slot.refusedValue = undefined
      slot.refusals = 0
      slot.restsUntil = 0
    },
    refused(reason) {
      if (!isRefusalFinal(slot, value)) return false
      refusedBefore.add(slot.name)
      // Those that were sent before the rest are refused late.
      if (slot.refusals !== refusals) return false
      restAndWake(pool, slot, reason)
      return true
    },
    release() {
      end(told)
      addInFlight(pool, slot, className, -1)
    },
  }
}

function restAndWake(pool: Pool, slot: Slot, reason: string): void {
  rest(slot, reason, pool.clock)
  wakeWaiting(pool)
}

function addInFlight(pool: Pool, slot: Slot, className: string, more: 1 | -1): void {
  slot.inFlight.set(className, (slot.inFlight.get(className) ?? 0) + more)
  if (more < 0) wakeWaiting(pool)
}

function wakeWaiting(pool: Pool): void {
  pool.wake.resolve()
  pool.wake = Promise.withResolvers()
}
