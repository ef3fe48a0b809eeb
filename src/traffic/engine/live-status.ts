import { byName } from '../../by-name.ts'
import { messageOf } from '../../errors.ts'
import { contextsOf } from '../effects/contexts.ts'
import type { EffectContext } from '../effects/effect.ts'
import { rulePicture, weightCounts } from '../effects/rule-effects.ts'
import type { Health } from '../vendors/balancer.ts'
import { clockProblem, onAwsTime } from './aws-time.ts'
import type { Engine } from './engine-types.ts'
import { judgeGates, secondsLeft } from './gate-verdicts.ts'
import type { GateResult } from './gates.ts'
import type { SwitchRow } from './store.ts'
import { checkedPlanOf } from './stored-plan.ts'

interface LiveRules {
  /** Weights of the live rules, others/target, and how many rules have them. */
  readonly weights: Readonly<Record<string, number>>
  /** Rules that still forward to the current target group alone. */
  readonly rulesLeft: number
  readonly health: Health | null
}

export interface LiveStatus extends LiveRules {
  /** The same of each route, where the plan lists its routes. */
  readonly routes: readonly (LiveRules & { readonly route: string })[]
  readonly gates: readonly GateResult[]
  /** Until the dwell time of the step is over. */
  readonly secondsLeft: number
  /** How wrong the clock of this machine is. */
  readonly clock: string | null
  /** Why the outside cannot be read; everything else is unknown then. */
  readonly problem: string | null
}

/** What the load balancer does now, whatever we believe. */
export async function liveStatus(engine: Engine, row: SwitchRow): Promise<LiveStatus> {
  const nothing = {
    weights: {},
    rulesLeft: 0,
    health: null,
    routes: [],
    gates: [],
    secondsLeft: 0,
    clock: null,
    problem: null,
  }
  if (row.state === 'draft' || row.state === 'cleaned-up') return nothing
  try {
    const { plan } = checkedPlanOf(row)
    const outside = await engine.connect(plan, true)
    const contexts = contextsOf(plan, outside, () => row, { overridesDrift: false })
    const rules = await Promise.all(contexts.map(rulesOf))
    const clock = clockProblem(engine.now(), outside) ?? null
    const timed = onAwsTime(engine, outside)
    const gates = ['prepared', 'shifting', 'paused'].includes(row.state)
      ? await judgeGates(timed, row, plan, outside)
      : []
    return {
      ...rules.reduce(sumOf),
      routes: contexts.flatMap(({ plan: { route } }, index) =>
        route === undefined ? [] : [{ route: route.name, ...rules[index]! }],
      ),
      gates,
      secondsLeft: secondsLeft(timed, row, plan),
      clock,
      problem: null,
    }
  } catch (error) {
    return { ...nothing, problem: messageOf(error) }
  }
}

async function rulesOf(context: EffectContext): Promise<LiveRules> {
  const picture = await rulePicture(context)
  const { left, arn } = picture
  const health = arn === undefined ? null : await context.outside.balancer.health(arn)
  return { weights: weightCounts(picture), rulesLeft: left.length, health }
}

function sumOf(one: LiveRules, other: LiveRules): LiveRules {
  const weights: Record<string, number> = byName(one.weights)
  for (const [text, count] of Object.entries(other.weights)) weights[text] = (weights[text] ?? 0) + count
  const healths = [one.health, other.health].filter((health) => health !== null)
  const sum = (part: 'healthy' | 'total' | 'draining') => healths.reduce((total, health) => total + health[part], 0)
  return {
    weights,
    rulesLeft: one.rulesLeft + other.rulesLeft,
    health:
      healths.length === 0
        ? null
        : {
            ...{ healthy: sum('healthy'), total: sum('total'), draining: sum('draining') },
            reasons: [...new Set(healths.flatMap(({ reasons }) => reasons))],
          },
  }
}

function describeRules({ weights, rulesLeft, health }: LiveRules, route = ''): readonly string[] {
  const rules = Object.entries(weights).map(([text, count]) => `${text} on ${count} rules`)
  if (rulesLeft > 0) rules.push(`${rulesLeft} rules without the target`)
  const live = `live${route}: ${rules.join(', ') || 'no rule names the target group'}`
  if (health === null) return [live]
  return [live, `health${route}: ${health.healthy} of ${health.total} targets healthy, ${health.draining} draining`]
}

export function describeLive(status: LiveStatus): string {
  const { routes, gates, secondsLeft: left, clock, problem } = status
  if (problem !== null) return `  live: cannot be read: ${problem}`
  const lines = [
    ...(routes.length === 0 ? describeRules(status) : routes.flatMap((each) => describeRules(each, ` ${each.route}`))),
  ]
  for (const { gate, verdict, message } of gates) lines.push(`gate ${gate}: ${verdict}, ${message}`)
  if (clock !== null) lines.push(`clock: ${clock}`)
  if (left > 0) lines.push(`time left: ${left} s`)
  return lines.map((line) => `  ${line}`).join('\n')
}
