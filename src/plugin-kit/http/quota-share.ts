/** What one process holds of a credential's quota: requests that it has reserved in a store, some at a time. */
import { createHash } from 'node:crypto'
import type { BudgetStore, QuotaGrant, QuotaReport } from './budget-store.ts'
import { type Clock, orAborted } from './clock.ts'
import type { Quota } from './quota.ts'

export interface QuotaShare {
  readonly name: string
  /** Requests that may be sent until `validUntil`. */
  permits: number
  window: number
  validUntil: number
  /** What is granted next finds out what the source allows. */
  isProbe: boolean
  ended: number
  silent: number
  told: { remaining: number; resetsAt: number } | undefined
  probe: QuotaReport['probe']
  asking: { readonly wantsMore: boolean; readonly answer: Promise<QuotaGrant> } | undefined
  idle: NodeJS.Timeout | undefined
}

/** One request that may be sent. */
export interface Permit {
  readonly window: number
  readonly isProbe: boolean
}

/** What the source said of its quota in answer to a request; undefined: it did not answer. */
export type Told = Quota | 'nothing' | undefined

/** After so long without a request, what is reserved and not used goes back. */
const IDLE_MS = 1000

export const createShare = (parts: readonly unknown[]): QuotaShare => ({
  name: createHash('sha256').update(JSON.stringify(parts)).digest('hex'),
  ...{ permits: 0, window: 0, validUntil: 0, isProbe: false, ended: 0, silent: 0, probe: 'none' },
  ...{ told: undefined, asking: undefined, idle: undefined },
})

/** A permit; or, where the quota is spent, until when. Neither: it is worth asking again. */
export async function reserveOne(
  share: QuotaShare,
  store: BudgetStore,
  clock: Clock,
  signal: AbortSignal,
): Promise<Permit | { readonly spentUntil?: number }> {
  clearTimeout(share.idle)
  for (;;) {
    const permit = takePermit(share, clock)
    if (permit) return permit
    share.asking ??= ask(share, store, clock, true)
    const { wantsMore, answer } = share.asking
    const { granted, endsInMs, askAgainInMs } = await orAborted(answer, signal)
    if (!wantsMore || granted > 0) continue
    if (askAgainInMs === undefined) return { spentUntil: clock.now() + endsInMs }
    await clock.sleep(askAgainInMs, signal)
    return {}
  }
}

function takePermit(share: QuotaShare, clock: Clock): Permit | undefined {
  if (share.permits === 0 || clock.now() >= share.validUntil) return undefined
  share.permits--
  return { isProbe: share.isProbe, window: share.window }
}

/** After the end of a request that was reserved, whatever it was. */
export function endOne(share: QuotaShare, permit: Permit, store: BudgetStore, clock: Clock, told: Told): void {
  // What was reserved in an earlier window is forgotten with it.
  const isCounted = permit.window === share.window
  if (isCounted) share.ended++
  if (told === undefined || told === 'nothing') {
    if (isCounted) share.silent++
  } else {
    const resetsAt = told.resetsAt.getTime()
    const isNewer = !share.told || resetsAt > share.told.resetsAt || told.remaining < share.told.remaining
    if (isNewer) share.told = { remaining: told.remaining, resetsAt }
  }
  if (permit.isProbe) share.probe = told === undefined ? 'failed' : told === 'nothing' ? 'unlimited' : 'told'
  clearTimeout(share.idle)
  const report = () => {
    share.asking ??= ask(share, store, clock, false)
    // A store that is away now hears of it with the next question.
    share.asking.answer.catch(() => {})
  }
  if (permit.isProbe) report()
  else share.idle = setTimeout(report, IDLE_MS).unref()
}

function ask(
  share: QuotaShare,
  store: BudgetStore,
  clock: Clock,
  wantsMore: boolean,
): NonNullable<QuotaShare['asking']> {
  const { ended, silent, told, permits, probe, window } = share
  share.ended = 0
  share.silent = 0
  share.told = undefined
  share.permits = 0
  share.probe = 'none'
  const report: QuotaReport = {
    window,
    ended: ended + permits,
    silent,
    told: told && { remaining: told.remaining, resetsInMs: told.resetsAt - clock.now() },
    ...{ probe, wantsMore },
  }
  const answer = store
    .ask(share.name, report)
    .then(
      (grant) => {
        if (grant.window !== share.window) {
          share.window = grant.window
          share.ended = 0
          share.silent = 0
        }
        share.isProbe = grant.isProbe
        share.permits = grant.granted
        share.validUntil = clock.now() + grant.endsInMs
        return grant
      },
      (error) => {
        share.ended += ended + permits
        share.silent += silent
        share.told ??= told
        if (share.probe === 'none') share.probe = probe
        throw error
      },
    )
    .finally(() => {
      share.asking = undefined
    })
  return { wantsMore, answer }
}
