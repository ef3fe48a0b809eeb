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
  /** Name for messages; never the secret. */
  readonly name: string
  readonly value: string
  /** False if the credential was lost or spent after it was taken. */
  isUsable(): boolean
  observe(quota: Quota): void
  /** Notes by how many milliseconds our clock is ahead of the source's. */
  saw(skew: number): void
  pause(until: number, className?: string): void
  accepted(): void
  /** Call after a 401: a refreshing credential is refreshed once, any other rests for a while. True if its rest began now. */
  refused(reason: string): boolean
  release(): void
}

interface TakeOptions {
  /** Store through which the remaining quota is shared with other processes. */
  readonly store?: BudgetStore | undefined
  /** Names of credentials that this request has already failed with. */
  readonly except?: ReadonlySet<string>
  readonly prefer?: string | undefined
  /**
   * Names of credentials that the server has refused to this caller; the pool adds to them. A caller gives up a resting credential
   * only if it is in this set.
   */
  readonly refused: Set<string>
  onWait(until: Date): void
  onLost(name: string, reason: string): void
}

export interface CredentialPool {
  readonly size: number
  /** Takes the credential with most quota left; waits for the earliest reset if all are spent. Undefined if none is left to try. */
  take(className: string, signal: AbortSignal, options: TakeOptions): Promise<Lease | undefined>
  /** Every secret value in use, for redaction. */
  secrets(): readonly string[]
  /** The reasons why credentials rest. */
  losses(): readonly string[]
  /** Number of requests that all credentials together still allow, as the source last said; undefined until it has said so. */
  requestsLeft(): number | undefined
}

/** Data that the slots of a pool share. */
interface Pool {
  /** The server to which the quotas belong. */
  readonly place: string
  readonly slots: readonly Slot[]
  readonly clock: Clock
  /** The class of requests for which the source last gave a quota. */
  lastClass: string
  takes: number
  /** Resolves when a slot may have become free. */
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

/** Resting credentials are used only if there is no other. */
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

/** Undefined if the value cannot be refreshed; the credential then rests. */
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
    // If several requests waited for the same refresh, only the first reports the failure.
    if (slot.refusals !== refusals) return undefined
    restAndWake(pool, slot, error.message)
    onLost(slot.name, error.message)
    return undefined
  }
}

/** Undefined: other processes have spent the quota, or are finding it out. */
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
  // The rest of the quota is reserved for requests in progress; one of them will end.
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
      // A request that was sent before the rest began may be refused afterwards.
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
