import { byName } from '../../basics/by-name.ts'
import { messageOf } from '../../errors.ts'
import { contextsOf } from '../effects/contexts.ts'
import type { EffectContext } from '../effects/effect.ts'
import { rulePicture, shareOf, weightCounts } from '../effects/rule-effects.ts'
import type { Plan } from '../model/plan.ts'
import { routesOf } from '../model/routes.ts'
import { isOver, type State } from '../model/state.ts'
import type { Share } from '../model/words.ts'
import type { Health } from '../vendors/balancer.ts'
import { clockProblem, onAwsTime } from './aws-time.ts'
import type { Engine } from './engine-types.ts'
import { judgeGates } from './gate-verdicts.ts'
import type { GateResult } from './gates.ts'
import type { SwitchRow } from './store.ts'

export interface LiveRules {
  /** Weights of the live rules, written as others/target, and how many rules have them. */
  readonly weights: Readonly<Record<string, number>>
  /** Rules that still forward to the current target group alone. */
  readonly rulesLeft: number
  /** The part of the requests that the target gets by these rules. */
  readonly share: Share
  readonly health: Health | null
}

/** One route as the load balancer has it; without rules if they cannot be read. */
export interface LiveRoute {
  readonly route: string
  readonly rules: LiveRules | undefined
  readonly problem: string | null
}

export interface Live {
  readonly routes: readonly LiveRoute[]
  readonly gates: readonly GateResult[]
  /** The time of AWS, by which waiting is judged; that of this machine if AWS has not answered. */
  readonly now: Date
  /** Describes how wrong the clock of this machine is; null if it is not. */
  readonly clock: string | null
  /** The reason why the outside cannot be read. */
  readonly problem: string | null
}

/** In these states the gates of the step decide what comes next. */
const GATED: ReadonlySet<State> = new Set(['prepared', 'shifting', 'paused'])

/** A plan without a list of routes has one route, named after its Service. */
const routeNames = (plan: Plan): readonly string[] =>
  routesOf(plan).map(({ route, current }) => route?.name ?? current.service.name)

/** Reads what the load balancer does now, whatever is stored. A route that cannot be read hides nothing of the others. */
export async function readLive(engine: Engine, row: SwitchRow, plan: Plan): Promise<Live> {
  const names = routeNames(plan)
  const unread = (problem: string | null): Live => ({
    routes: names.map((route) => ({ route, rules: undefined, problem })),
    gates: [],
    now: engine.now(),
    clock: null,
    problem,
  })
  if (row.state === 'draft' || isOver(row.state)) return unread(null)
  try {
    const outside = await engine.connect(plan, true)
    const contexts = contextsOf(plan, outside, () => row, { overridesDrift: false })
    const routes = await Promise.all(contexts.map((context, index) => readRoute(context, names[index]!)))
    const timed = onAwsTime(engine, outside)
    const clock = clockProblem(engine.now(), outside) ?? null
    const now = timed.now()
    const gates = GATED.has(row.state)
      ? await judgeGates(timed, row, plan, outside).then(gatesRead, gatesUnread)
      : gatesRead([])
    const problem = routes.find((each) => each.problem)?.problem ?? gates.problem
    return { routes, gates: gates.read, now, clock, problem }
  } catch (error) {
    return unread(messageOf(error))
  }
}

const gatesRead = (read: readonly GateResult[]) => ({ read, problem: null })
const gatesUnread = (error: unknown) => ({ read: [], problem: messageOf(error) })

async function readRoute(context: EffectContext, route: string): Promise<LiveRoute> {
  try {
    const picture = await rulePicture(context)
    const { left, arn } = picture
    const health = arn === undefined ? null : await context.outside.balancer.health(arn)
    return {
      route,
      problem: null,
      rules: { weights: weightCounts(picture), rulesLeft: left.length, share: shareOf(picture), health },
    }
  } catch (error) {
    return { route, rules: undefined, problem: messageOf(error) }
  }
}

/** Combines all routes: rules are counted, and the share ranges from the least to the most. */
export function together(all: readonly LiveRules[]): LiveRules {
  const weights: Record<string, number> = byName({})
  for (const rules of all)
    for (const [text, count] of Object.entries(rules.weights)) weights[text] = (weights[text] ?? 0) + count
  const healths = all.flatMap(({ health }) => health ?? [])
  const sum = (part: 'healthy' | 'total' | 'draining') => healths.reduce((total, health) => total + health[part], 0)
  const reasons = [...new Set(healths.flatMap((health) => health.reasons))]
  return {
    weights,
    rulesLeft: all.reduce((total, { rulesLeft }) => total + rulesLeft, 0),
    share: {
      least: Math.min(1, ...all.map(({ share }) => share.least)),
      most: Math.max(0, ...all.map(({ share }) => share.most)),
    },
    health:
      healths.length === 0
        ? null
        : { healthy: sum('healthy'), total: sum('total'), draining: sum('draining'), reasons },
  }
}
