import { byName } from '../../by-name.ts'
import { messageOf } from '../../errors.ts'
import type { EffectContext } from '../effects/effect.ts'
import { rulePicture } from '../effects/rule-effects.ts'
import type { Health } from '../vendors/balancer.ts'
import type { Engine } from './engine-types.ts'
import { judgeGates, secondsLeft } from './gate-verdicts.ts'
import type { GateResult } from './gates.ts'
import type { SwitchRow } from './store.ts'
import { checkedPlanOf } from './stored-plan.ts'

export interface LiveStatus {
  /** Weights of the live rules, others/target, and how many rules have them. */
  readonly weights: Readonly<Record<string, number>>
  /** Rules that still forward to the current target group alone. */
  readonly rulesLeft: number
  readonly health: Health | null
  readonly gates: readonly GateResult[]
  /** Until the dwell time of the step is over. */
  readonly secondsLeft: number
  /** Why the outside cannot be read; everything else is unknown then. */
  readonly problem: string | null
}

/** What the load balancer does now, whatever we believe. */
export async function liveStatus(engine: Engine, row: SwitchRow): Promise<LiveStatus> {
  const nothing = { weights: {}, rulesLeft: 0, health: null, gates: [], secondsLeft: 0, problem: null }
  if (row.state === 'draft' || row.state === 'cleaned-up') return nothing
  try {
    const { plan } = checkedPlanOf(row)
    const outside = await engine.connect(plan, true)
    const context: EffectContext = { plan, outside, row: () => row, overridesDrift: false, overridden: [] }
    const { own, left, arn } = await rulePicture(context)
    const weights: Record<string, number> = byName({})
    for (const { groups } of own) {
      const of = (isTarget: boolean) => groups.filter((group) => (group.arn === arn) === isTarget)
      const text = [of(false), of(true)].map((each) => each.map(({ weight }) => weight).join('+') || '0').join('/')
      weights[text] = (weights[text] ?? 0) + 1
    }
    const health = arn === undefined ? null : await outside.balancer.health(arn)
    const gates = row.state === 'shifting' || row.state === 'paused' ? await judgeGates(engine, row, plan, outside) : []
    return {
      weights,
      rulesLeft: left.length,
      health,
      gates,
      secondsLeft: secondsLeft(engine, row, plan),
      problem: null,
    }
  } catch (error) {
    return { ...nothing, problem: messageOf(error) }
  }
}

export function describeLive({ weights, rulesLeft, health, gates, secondsLeft: left, problem }: LiveStatus): string {
  if (problem !== null) return `  live: cannot be read: ${problem}`
  const rules = Object.entries(weights).map(([text, count]) => `${text} on ${count} rules`)
  if (rulesLeft > 0) rules.push(`${rulesLeft} rules without the target`)
  const lines = [`live: ${rules.join(', ') || 'no rule names the target group'}`]
  if (health !== null)
    lines.push(`health: ${health.healthy} of ${health.total} targets healthy, ${health.draining} draining`)
  for (const { gate, verdict, message } of gates) lines.push(`gate ${gate}: ${verdict}, ${message}`)
  if (left > 0) lines.push(`time left: ${left} s`)
  return lines.map((line) => `  ${line}`).join('\n')
}
