/** Requests and errors of both clusters, if the plan names a source that counts them for each. */
import { messageOf } from '../core.ts'
import { placesOf } from '../gates/gate-verdicts.ts'
import type { Plan, SideName } from '../model/plan.ts'
import { routesOf } from '../model/routes.ts'
import { isOver, type State } from '../model/state.ts'
import type { GroupPlace, Statistic } from '../vendors/metrics.ts'
import { onAwsTime } from './aws-time.ts'
import type { Engine } from './engine-types.ts'
import type { SwitchRow } from './store.ts'
import { checkedPlanOf } from './stored-plan.ts'

const PERIOD_SECONDS = 60
const MINUTES = 30
/** CloudWatch has the numbers of a minute about this much later. */
const DELAY_SECONDS = 120
const STATISTICS: readonly Statistic[] = [
  ['RequestCount', 'Sum'],
  ['HTTPCode_Target_5XX_Count', 'Sum'],
]
const ATTACHED: ReadonlySet<State> = new Set([
  'prepared',
  'shifting',
  'paused',
  'switched',
  'dns-switched',
  'rolled-back',
])

interface Counts {
  readonly requests: number
  readonly errors: number
}

interface Minute {
  /** The time at which the minute ended. */
  readonly at: Date
  readonly current: Counts
  readonly target: Counts
}

interface RequestsByCluster {
  /** Null if the plan names no source that tells the clusters apart. */
  readonly source: string | null
  readonly problem: string | null
  readonly minutes: readonly Minute[]
}

/** A user without a gate on CloudWatch may lack the permission to read it, and pays for what is read. */
const readsCloudWatch = ({ steps, cleanup }: Plan): boolean =>
  cleanup.maxRequestsPerMinute !== undefined ||
  steps.some(({ gates }) => gates.some(({ kind }) => kind === 'cloudWatch'))

export async function requestsByCluster(engine: Engine, row: SwitchRow): Promise<RequestsByCluster> {
  const none = { source: null, problem: null, minutes: [] }
  if (isOver(row.state)) return none
  const { plan } = checkedPlanOf(row)
  if (!readsCloudWatch(plan)) return none
  const source = 'CloudWatch'
  if (!ATTACHED.has(row.state)) return { ...none, source }
  try {
    const outside = await engine.connect(plan, true)
    const places = await Promise.all(routesOf(plan).map((own) => placesOf(outside, own)))
    const seconds = onAwsTime(engine, outside).now().getTime() / 1000
    const to = Math.floor((seconds - DELAY_SECONDS) / PERIOD_SECONDS) * PERIOD_SECONDS
    const from = to - MINUTES * PERIOD_SECONDS
    const ends = Array.from({ length: MINUTES }, (_, minute) => from + (minute + 1) * PERIOD_SECONDS)
    const countsOf = async (side: SideName) => {
      const all = distinct(places.map((place) => place[side]))
      const series = await outside.metrics.cloudWatch(all, STATISTICS, { from, to, periodSeconds: PERIOD_SECONDS })
      const sum = (statistic: number, end: number) =>
        series.reduce((total, each) => total + (each[statistic]?.get(end) ?? 0), 0)
      return (end: number): Counts => ({ requests: sum(0, end), errors: sum(1, end) })
    }
    const [current, target] = await Promise.all([countsOf('current'), countsOf('target')])
    const minutes = ends.map((end) => ({ at: new Date(end * 1000), current: current(end), target: target(end) }))
    return { source, problem: null, minutes }
  } catch (error) {
    return { source, problem: messageOf(error), minutes: [] }
  }
}

/** Removes duplicates, because routes may share the target group of their Service. */
const distinct = (places: readonly GroupPlace[]): readonly GroupPlace[] => [
  ...new Map(places.map((place) => [`${place.loadBalancer} ${place.group}`, place])).values(),
]
