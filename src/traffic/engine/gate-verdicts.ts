import { setTimeout as sleep } from 'node:timers/promises'
import { counted } from '../../basics/counted.ts'
import { RetryableError } from '../../errors.ts'
import type { Outside } from '../effects/effect.ts'
import { rulePicture } from '../effects/rule-effects.ts'
import { TrafficError } from '../model/finding.ts'
import type { Gate, Plan, RoutePlan, SideName } from '../model/plan.ts'
import { routesOf } from '../model/routes.ts'
import { gateWords, skipping } from '../model/words.ts'
import type { GroupPlace } from '../vendors/metrics.ts'
import type { Engine } from './engine-types.ts'
import { type GateResult, gateName, judgeGate } from './gates.ts'
import { type MetricGate, measure, spanOf } from './metric-gates.ts'
import { rowOfRoute } from './route-memory.ts'
import type { Run, SwitchRow } from './store.ts'

export type BalancerOnly = Pick<Outside, 'balancer' | 'metrics'>

/** A gate and the route that it looks at. Gates about the project look at no route, and appear once. */
interface Check {
  readonly gate: Gate
  readonly plan: RoutePlan
  readonly name: string
}

/** Gates that ask about a target group are asked for the group of each route. */
const OF_EACH_ROUTE: ReadonlySet<Gate['kind']> = new Set(['targetsHealthy', 'cloudWatch'])

function checksOf(plan: Plan, gates: readonly Gate[]): readonly Check[] {
  const routes = routesOf(plan)
  return gates.flatMap((gate): readonly Check[] => {
    const name = gateName(gate)
    if (!OF_EACH_ROUTE.has(gate.kind)) return [{ gate, plan: routes[0]!, name }]
    return routes.map((own) => ({ gate, plan: own, name: own.route ? `${name} (${own.route.name})` : name }))
  })
}

/** Judges the gates of the present step now, from a single look. */
export const judgeGates = (
  engine: Engine,
  row: SwitchRow,
  plan: Plan,
  outside: BalancerOnly,
  gates: readonly Gate[] = plan.steps[row.step]!.gates,
): Promise<readonly GateResult[]> =>
  Promise.all(checksOf(plan, gates).map((check) => judgeCheck(engine, row, check, outside)))

async function judgeCheck(
  engine: Engine,
  row: SwitchRow,
  { gate, plan, name }: Check,
  outside: BalancerOnly,
): Promise<GateResult> {
  const step = plan.steps[row.step]!
  if (row.verified_at === null)
    return { gate: name, verdict: 'pending', message: 'the step is not in force yet', asks: gateWords(gate) }
  const until = new Date(row.verified_at.getTime() + step.dwellSeconds * 1000)
  const context = {
    database: engine.database,
    plan,
    since: row.verified_at,
    until,
    isApproved: row.approved_at !== null,
    now: engine.now(),
    isUnderLoad: step.weights.target > 0,
    async samples(metric: MetricGate) {
      const span = spanOf(metric, row.verified_at!, engine.now())
      const samples = await measure(metric, outside.metrics, () => placesOf(outside, plan), span)
      return { samples, isCovered: span.to * 1000 >= until.getTime() - metric.periodSeconds * 1000 }
    },
    health() {
      const { target_group_arn: arn } = rowOfRoute(row, plan.route?.name)
      return outside.balancer.health(arn ?? plan.targetGroup.arn ?? '')
    },
  }
  return { ...(await judgeGate(gate, context)), gate: name }
}

/** Finds both target groups by the rules that name them. */
export async function placesOf(
  { balancer }: BalancerOnly,
  plan: RoutePlan,
): Promise<Readonly<Record<SideName, GroupPlace>>> {
  const { own, arn, loadBalancer } = await rulePicture({ plan, outside: { balancer } })
  const other = own.flatMap(({ groups }) => groups).find((group) => group.arn !== arn)
  if (arn === undefined || loadBalancer === undefined || other === undefined)
    throw new RetryableError('no rule of the load balancer names both target groups')
  return { target: { loadBalancer, group: arn }, current: { loadBalancer, group: other.arn } }
}

/** A failure that may pass within seconds counts only when several looks in a row see it. */
export async function judgeFirmly(
  engine: Engine,
  row: SwitchRow,
  plan: Plan,
  outside: BalancerOnly,
): Promise<readonly GateResult[]> {
  return Promise.all(
    checksOf(plan, plan.steps[row.step]!.gates).map(async (check) => {
      const limit = check.gate.kind === 'targetsHealthy' ? check.gate.failureLimit : 1
      let result = await judgeCheck(engine, row, check, outside)
      for (let failures = 1; result.verdict === 'fail' && failures < limit; failures++) {
        await sleep(engine.pollMs)
        result = await judgeCheck(engine, row, check, outside)
      }
      return result
    }),
  )
}

export const secondsLeft = (engine: Pick<Engine, 'now'>, row: SwitchRow, plan: Plan): number =>
  row.verified_at === null
    ? 0
    : Math.max(
        0,
        Math.ceil(
          (row.verified_at.getTime() + plan.steps[row.step]!.dwellSeconds * 1000 - engine.now().getTime()) / 1000,
        ),
      )

/** Data may still arrive by itself; an approval has to come from somebody. */
function wayOut(id: string, open: readonly GateResult[]): string {
  const approve = open.some(({ gate }) => gate === 'approval') ? `Approve it: npx weir traffic approve ${id}. ` : ''
  return `${approve}--wait asks again until all pass; ${skipping('overrideGates')} continues without them.`
}

/** Returns the message of a gate that failed, or undefined when the step may be left; throws when it may not be left yet. */
export async function passGates(
  engine: Engine,
  run: Run,
  plan: Plan,
  outside: BalancerOnly,
  isOverridden: boolean,
): Promise<string | undefined> {
  const results = await judgeFirmly(engine, run.row, plan, outside)
  for (const { gate, verdict, message } of results) {
    // A gate is asked every two seconds, but an unchanged answer is recorded once.
    const text = `${verdict}: ${message}`
    if (run.lastDetail('gate', gate) !== text) await run.write('gate', gate, text)
  }
  const describe = (list: readonly GateResult[]) =>
    list.map(({ gate, verdict, message }) => `${gate} ${verdict}: ${message}`).join('; ')
  if (isOverridden) return undefined
  const failed = results.filter(({ verdict }) => verdict === 'fail')
  if (failed.length > 0) return `Gate of step ${run.row.step} failed: ${describe(failed)}.`
  const left = secondsLeft(engine, run.row, plan)
  if (left > 0)
    throw new TrafficError(
      'gate',
      `Step ${run.row.step} must stay for ${counted(left, 'more second')}. --wait waits; ${skipping('overrideGates')} does not.`,
    )
  const open = results.filter(({ verdict }) => verdict !== 'pass')
  if (open.length > 0)
    throw new TrafficError(
      'gate',
      `Step ${run.row.step} cannot continue: ${describe(open)}. ${wayOut(run.row.id, open)}`,
    )
  return undefined
}
