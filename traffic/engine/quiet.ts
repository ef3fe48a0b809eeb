import { type BalancerOnly, placesOf } from '../gates/gate-verdicts.ts'
import { TrafficError } from '../model/finding.ts'
import type { Plan } from '../model/plan.ts'
import { routesOf } from '../model/routes.ts'
import { skipping } from '../model/words.ts'
import type { GroupPlace } from '../vendors/metrics.ts'
import type { Engine } from './engine-types.ts'

const PERIOD_SECONDS = 60
/** CloudWatch has the numbers of a minute about this much later. */
const DELAY_SECONDS = 120

/** Clients that still come to the old load balancer would find nothing there after clean-up. */
export async function requireQuiet(engine: Engine, plan: Plan, outside: BalancerOnly): Promise<void> {
  const { maxRequestsPerMinute: most } = plan.cleanup
  if (most === undefined) return
  const groups = (
    await Promise.all(
      routesOf(plan).map(async (own) => {
        const { current, target } = await placesOf(outside, own)
        return [current, target]
      }),
    )
  ).flat()
  const to = Math.floor((engine.now().getTime() / 1000 - DELAY_SECONDS) / PERIOD_SECONDS) * PERIOD_SECONDS
  const span = { from: to - plan.dns.quietMinutes * 60, to, periodSeconds: PERIOD_SECONDS }
  const busiest = async (places: readonly GroupPlace[]): Promise<readonly [end: number, count: number]> => {
    const series = await outside.metrics.cloudWatch(places, [['RequestCount', 'Sum']], span)
    // CloudWatch writes nothing for a minute without requests.
    const perMinute = new Map<number, number>()
    for (const [requests] of series)
      for (const [end, count] of requests!) perMinute.set(end, (perMinute.get(end) ?? 0) + count)
    return [...perMinute].toSorted(([, left], [, right]) => right - left)[0] ?? [to, 0]
  }
  // Routes may share a load balancer, or use several.
  const perBalancer = Map.groupBy(groups, ({ loadBalancer }) => loadBalancer)
  const minutes = await Promise.all([...perBalancer.values()].map(busiest))
  const [end, count] = minutes.toSorted(([, left], [, right]) => right - left)[0]!
  if (count > most)
    throw new TrafficError(
      'gate',
      `The old load balancer still answers: ${count} requests in the minute until ${new Date(end * 1000).toISOString()}, at most ${most} allowed in the last ${plan.dns.quietMinutes} minutes. Find who still uses its name, or repeat later (--wait does); ${skipping('skipQuiet')} cleans up all the same.`,
    )
}
