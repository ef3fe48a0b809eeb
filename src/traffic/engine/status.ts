/** The status of a switch. It is made only here, then served by the API, printed by the command line and drawn by the page. */
import { counted } from '../../basics/counted.ts'
import type { Database } from '../../database/database.ts'
import { answerOf, type Plan } from '../model/plan.ts'
import { isOver, STATE_WORDS, type State } from '../model/state.ts'
import { gateWords, type Share, sameShare, shareOfStep, shareWords, stepWords, weightsOf } from '../model/words.ts'
import type { Engine } from './engine-types.ts'
import { secondsLeft } from './gate-verdicts.ts'
import type { GateResult } from './gates.ts'
import { beginningOf } from './journal-words.ts'
import { type Live, type LiveRoute, type LiveRules, readLive, together } from './live-status.ts'
import { type Next, nextOf } from './next-words.ts'
import { isLeased, journalOf, type SwitchRow } from './store.ts'
import { checkedPlanOf } from './stored-plan.ts'

/** A step is done when the rules have its weights. */
export const STEP_STATUSES = ['ahead', 'under-way', 'in-force', 'not-in-force', 'not-known', 'passed'] as const
type StepStatus = (typeof STEP_STATUSES)[number]

interface StepLine {
  /** 0 prepares. The number is the same everywhere. */
  readonly number: number
  readonly weights: string
  readonly status: StepStatus
  readonly dwellSeconds: number
  /** The conditions for leaving the step. */
  readonly gates: readonly string[]
  readonly onFail: 'pause' | 'rollback'
}

interface RouteLine extends Omit<LiveRules, 'share'> {
  readonly route: string
  readonly share: Share | null
  /** The weights that should be in force; null if none of the switch should be. */
  readonly planned: string | null
  /** Null if it is not known. */
  readonly isAsPlanned: boolean | null
  /** The planned and the live weights, in words. */
  readonly says: string
  readonly problem: string | null
}

export interface SwitchStatus {
  readonly headline: string
  /** Share of the requests to the load balancer that traffic leaves; null if it is not known. */
  readonly share: Share | null
  readonly weights: LiveRules['weights']
  readonly rulesLeft: number
  readonly health: LiveRules['health']
  readonly routes: readonly RouteLine[]
  readonly steps: readonly StepLine[]
  /** The step that is in force or under way, in words. */
  readonly step: string | null
  readonly gates: readonly GateResult[]
  /** The actor who is working on the switch now, and the action. */
  readonly working: string | null
  readonly next: Next
  /** Describes values that are not what Weir wrote. */
  readonly drift: string | null
  /** Seconds until the dwell time of the step is over. */
  readonly secondsLeft: number
  /** Describes how wrong the clock of this machine is. */
  readonly clock: string | null
  /** The reason why the outside cannot be read. */
  readonly problem: string | null
}

export async function switchStatus(engine: Engine, row: SwitchRow): Promise<SwitchStatus> {
  const plan = readablePlan(row)
  if (plan instanceof Error) return unreadable(row, plan.message)
  const [live, working] = await Promise.all([readLive(engine, row, plan), workingNow(engine.database, row)])
  return statusOf(row, plan, live, working)
}

function readablePlan(row: SwitchRow): Plan | Error {
  try {
    return checkedPlanOf(row).plan
  } catch (error) {
    return error as Error
  }
}

/** A plan that was damaged by hand hides neither the switch nor its journal. */
const unreadable = ({ state }: SwitchRow, problem: string): SwitchStatus => ({
  headline: `${STATE_WORDS[state]}, its stored plan cannot be read`,
  ...UNREAD,
  share: null,
  routes: [],
  steps: [],
  step: null,
  gates: [],
  working: null,
  drift: null,
  secondsLeft: 0,
  clock: null,
  next: { says: problem, at: null, gate: null },
  problem,
})

function statusOf(row: SwitchRow, plan: Plan, live: Live, working: string | null): SwitchStatus {
  const known = live.routes.flatMap(({ rules }) => rules ?? [])
  const all = together(known)
  const { weights, rulesLeft, health } = all
  const share = shareNow(row, live, all)
  const planned = plannedOf(row, plan)
  const routes = live.routes.map((route) => routeLine(route, planned))
  const isInForce = routes.some(({ isAsPlanned }) => isAsPlanned === false)
    ? false
    : routes.every(({ isAsPlanned }) => isAsPlanned === true) || null
  const steps = plan.steps.map((step, number) => ({
    number,
    weights: weightsOf(step),
    status: stepStatus(row, plan, number, isInForce),
    dwellSeconds: step.dwellSeconds,
    gates: step.gates.map(gateWords),
    onFail: answerOf(step),
  }))
  const left = secondsLeft({ now: () => live.now }, row, plan)
  return {
    headline: headlineOf(row, plan, routes, share),
    share,
    weights,
    rulesLeft,
    health,
    routes,
    steps,
    step: STEPPING.has(row.state) ? stepWords(plan, row.step) : null,
    gates: live.gates,
    working,
    next: nextOf(row, plan, live, left),
    drift: driftOf(row, routes),
    secondsLeft: left,
    clock: live.clock,
    problem: live.problem,
  }
}

const STEPPING: ReadonlySet<State> = new Set(['preparing', 'prepared', 'shifting', 'paused', 'switched'])
const HELD: ReadonlySet<State> = new Set(['prepared', 'shifting', 'paused', 'switched', 'dns-switched'])

/** In a draft, and after the end of a switch, there are no rules from which the share could be read. */
function shareNow(row: SwitchRow, live: Live, all: LiveRules): Share | null {
  if (row.state === 'draft') return sameShare(0)
  if (isOver(row.state)) return sameShare(row.dns_confirmed_at === null ? 0 : 1)
  if (live.routes.some(({ rules }) => rules === undefined)) return null
  // If the name leads to the other load balancer, rules that are removed send nobody back.
  const isNameAway = row.state === 'cleaning' && row.dns_confirmed_at !== null
  return isNameAway && Object.keys(all.weights).length === 0 ? sameShare(1) : all.share
}

interface Planned {
  readonly text: string
  readonly share: number
}

function plannedOf({ state, step }: SwitchRow, { steps }: Plan): Planned | undefined {
  if (state === 'draft' || state === 'cleaning' || isOver(state)) return undefined
  const isBack = state === 'rolling-back' || state === 'rolled-back' || state === 'preparing'
  const planned = steps[isBack ? 0 : step]
  if (planned === undefined) return undefined
  return { text: weightsOf(planned), share: shareOfStep(planned) }
}

const isSame = (one: number, other: number): boolean => Math.abs(one - other) < 1e-9

function routeLine({ route, rules, problem }: LiveRoute, planned: Planned | undefined): RouteLine {
  const share = rules?.share ?? null
  const isAsPlanned =
    planned === undefined
      ? true
      : share === null
        ? null
        : isSame(share.least, planned.share) && isSame(share.most, planned.share)
  const live = rules === undefined ? `cannot be read: ${problem}` : rulesWords(rules)
  const says =
    planned === undefined
      ? rules === undefined && problem === null
        ? 'nothing of the switch stands there'
        : live
      : `${live}; planned ${planned.text}${isAsPlanned === false ? ', which is not in force' : ''}`
  return { ...(rules ?? UNREAD), route, share, planned: planned?.text ?? null, isAsPlanned, says, problem }
}

const UNREAD = { weights: {}, rulesLeft: 0, health: null }

function rulesWords({ weights, rulesLeft }: Pick<LiveRules, 'weights' | 'rulesLeft'>): string {
  const rules = Object.entries(weights).map(([text, count]) => `${text} on ${counted(count, 'rule')}`)
  if (rulesLeft > 0) rules.push(`${counted(rulesLeft, 'rule')} without the target`)
  return rules.join(', ') || 'no rule names the target group'
}

export const healthWords = ({ healthy, total, draining }: NonNullable<LiveRules['health']>): string =>
  `${healthy} of ${counted(total, 'target')} healthy${draining > 0 ? `, ${draining} draining` : ''}`

function stepStatus(row: SwitchRow, { steps }: Plan, number: number, isInForce: boolean | null): StepStatus {
  const { state, step } = row
  if (state === 'preparing') return number === 0 ? 'under-way' : 'ahead'
  if (state === 'cleaned-up' || (state === 'cleaning' && row.dns_confirmed_at !== null)) return 'passed'
  if (!HELD.has(state)) return 'ahead'
  const present = state === 'switched' || state === 'dns-switched' ? steps.length - 1 : step
  if (number !== present) return number < present ? 'passed' : 'ahead'
  if (row.verified_at === null) return 'under-way'
  return isInForce === null ? 'not-known' : isInForce ? 'in-force' : 'not-in-force'
}

function headlineOf(
  { state, dns_confirmed_at }: SwitchRow,
  plan: Plan,
  routes: readonly RouteLine[],
  share: Share | null,
): string {
  const word = STATE_WORDS[state]
  const isApart = new Set(routes.map((route) => JSON.stringify(route.share))).size > 1
  const live = isApart
    ? routes
        .map(({ route, share: own }) => `${route}: ${own === null ? 'not known' : shareWords(plan, own)}`)
        .join('; ')
    : share === null
      ? 'what the load balancer does is not known'
      : shareWords(plan, share)
  if (dns_confirmed_at === null || isOver(state)) return `${word}, ${live}`
  const name = `DNS leads to ${plan.target.cluster}`
  return state === 'cleaning' ? `${word}, ${name}` : `${word}, ${name}, at the old load balancer ${live}`
}

async function workingNow(database: Database, row: SwitchRow): Promise<string | null> {
  const last = isLeased(row) ? (await journalOf(database, row.id)).at(-1) : undefined
  if (last === undefined) return null
  const what = last.kind === 'intent' ? `: ${beginningOf(last.effect)}` : ''
  return `${last.action} by ${last.actor} is under way${what}`
}

/** Includes the route, if one is named right before. */
const driftIn = (problem: string): string | undefined => /(?:Route [a-z0-9-]{1,32}: )?Drift: .*/s.exec(problem)?.[0]

/** Drift that the last action met, or rules that differ from the step that was in force. */
function driftOf(row: SwitchRow, routes: readonly RouteLine[]): string | null {
  if (!HELD.has(row.state)) return null
  const met = driftIn(row.problem ?? '')
  if (met !== undefined) return met
  if (row.verified_at === null) return null
  const moved = routes.filter(({ isAsPlanned }) => isAsPlanned === false)
  return moved.length === 0 ? null : moved.map(({ route, says }) => `Route ${route}: ${says}.`).join(' ')
}
