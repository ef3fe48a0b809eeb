/** The share of one process in a credential's quota: requests that it has reserved in a store, some at a time. */
import { createHash } from 'node:crypto'
import type { BudgetStore, QuotaGrant, QuotaReport } from './budget-store.ts'
import { type Clock, orAborted } from './clock.ts'
import type { Quota } from './quota.ts'

export interface QuotaShare {
  readonly name: string
  /** Number of requests that may be sent until `validUntil`. */
  permits: number
  window: number
  validUntil: number
  /** The granted request is sent to find out the source's quota. */
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

/** The quota in the answer to a request, 'nothing' if the answer had none; undefined: no answer. */
export type Told = Quota | 'nothing' | undefined

/** After this time without a request, reserved and unused requests are returned. */
const IDLE_MS = 1000

export const createShare = (parts: readonly unknown[]): QuotaShare => ({
  name: createHash('sha256').update(JSON.stringify(parts)).digest('hex'),
  permits: 0,
  window: 0,
  validUntil: 0,
  isProbe: false,
  ended: 0,
  silent: 0,
  probe: 'none',
  told: undefined,
  asking: undefined,
  idle: undefined,
})

/** Returns a permit or, if the quota is spent, the time until then. If it returns neither, ask again. */
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

/** Must be called at the end of every reserved request, whether it succeeded or failed. */
export function endOne(share: QuotaShare, permit: Permit, store: BudgetStore, clock: Clock, told: Told): void {
  // Requests that were reserved in an earlier window no longer count.
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
    // If the store cannot be reached now, the report is sent with the next question.
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
    probe,
    wantsMore,
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
