import { counted } from '../../basics/counted.ts'
import type { Gate, SideName } from '../model/plan.ts'
import type { GroupPlace, Metrics, Series, Span, Statistic } from '../vendors/metrics.ts'

export type MetricGate = Extract<Gate, { kind: 'cloudWatch' | 'prometheus' }>
type MetricVerdict = readonly ['pass' | 'fail' | 'inconclusive' | 'pending', string]

/** The values measured in one period; undefined where nothing was measured. */
export interface Sample {
  /** Seconds since 1970. */
  readonly end: number
  readonly target: number | undefined
  readonly current: number | undefined
  /** The traffic behind each number; undefined if it was not asked for. */
  readonly targetTraffic: number | undefined
  readonly currentTraffic: number | undefined
}

/** Longer steps are judged by this many of their last periods. */
const MOST_PERIODS = 1000

/** Whole periods from the beginning of the step to the latest one that the source can know by now. */
export function spanOf(gate: MetricGate, since: Date, now: Date): Span {
  const { periodSeconds, delaySeconds } = gate
  const from = Math.ceil(since.getTime() / 1000 / periodSeconds) * periodSeconds
  const to = Math.floor((now.getTime() / 1000 - delaySeconds) / periodSeconds) * periodSeconds
  return { from: Math.max(from, to - MOST_PERIODS * periodSeconds), to, periodSeconds }
}

export async function measure(
  gate: MetricGate,
  metrics: Metrics,
  places: () => Promise<Readonly<Record<SideName, GroupPlace>>>,
  span: Span,
): Promise<readonly Sample[]> {
  if (span.to <= span.from) return []
  const ends: number[] = []
  for (let end = span.from + span.periodSeconds; end <= span.to; end += span.periodSeconds) ends.push(end)
  const sampled = gate.kind === 'cloudWatch' ? fromCloudWatch : fromPrometheus
  const sampleAt = await sampled(gate as never, metrics, places, span)
  return ends.map(sampleAt)
}

const STATISTICS: Readonly<Record<'errorRate' | 'latency' | 'requests', (statistic: string) => readonly Statistic[]>> =
  {
    errorRate: () => [['HTTPCode_Target_5XX_Count', 'Sum']],
    latency: (statistic) => [['TargetResponseTime', statistic]],
    requests: () => [],
  }

async function fromCloudWatch(
  gate: Extract<Gate, { kind: 'cloudWatch' }>,
  metrics: Metrics,
  places: () => Promise<Readonly<Record<SideName, GroupPlace>>>,
  span: Span,
): Promise<(end: number) => Sample> {
  const { target, current } = await places()
  const statistics: readonly Statistic[] = [['RequestCount', 'Sum'], ...STATISTICS[gate.metric](gate.statistic)]
  const [targetSeries, currentSeries] = await metrics.cloudWatch([target, current], statistics, span)
  const valueAt = ([requests, measured]: readonly Series[], end: number): number | undefined => {
    const count = requests!.get(end)
    if (gate.metric === 'requests' || count === undefined) return count
    // CloudWatch writes no zeros: requests without errors have no error count.
    if (gate.metric === 'errorRate') return (measured!.get(end) ?? 0) / count
    return measured!.get(end)
  }
  return (end) => ({
    end,
    target: valueAt(targetSeries!, end),
    current: valueAt(currentSeries!, end),
    targetTraffic: targetSeries![0]!.get(end) ?? 0,
    currentTraffic: currentSeries![0]!.get(end) ?? 0,
  })
}

async function fromPrometheus(
  gate: Extract<Gate, { kind: 'prometheus' }>,
  metrics: Metrics,
  _places: unknown,
  span: Span,
): Promise<(end: number) => Sample> {
  const read = (query: string | undefined) => (query === undefined ? undefined : metrics.prometheus(query, span))
  const [target, current, traffic] = await Promise.all([read(gate.target), read(gate.current), read(gate.traffic)])
  return (end) => ({
    end,
    target: target!.get(end),
    current: current?.get(end),
    currentTraffic: undefined,
    targetTraffic: traffic === undefined ? undefined : (traffic.get(end) ?? 0),
  })
}

const number = (value: number): string => String(Number(value.toPrecision(4)))
const timeOf = (end: number): string => new Date(end * 1000).toISOString().slice(11, 19)

/** Judges one period. It is inconclusive if it says nothing; the text gives the reason. */
function judgeSample(
  gate: MetricGate,
  sample: Sample,
): { readonly verdict: 'pass' | 'fail' | 'inconclusive'; text: string } {
  const { target, current, targetTraffic, currentTraffic, end } = sample
  const least = gate.kind === 'cloudWatch' ? gate.minRequests : gate.minTraffic
  const name = gate.kind === 'cloudWatch' ? gate.metric : (gate.name ?? 'the query')
  const says = (verdict: 'pass' | 'fail' | 'inconclusive', text: string) => ({ verdict, text })
  // For the metric `requests` a missing count is judged like 0, not as missing traffic.
  const isCount = gate.kind === 'cloudWatch' && gate.metric === 'requests'
  if (!isCount && targetTraffic !== undefined && targetTraffic < least)
    return says('inconclusive', `${number(targetTraffic)} requests in the period until ${timeOf(end)}, ${least} needed`)
  const value = isCount ? (target ?? 0) : target
  if (value === undefined) return says('inconclusive', `no value of ${name} for the period until ${timeOf(end)}`)
  const measured = `${name} of the target was ${number(value)} in the period until ${timeOf(end)}`
  if (gate.max !== undefined && value > gate.max) return says('fail', `${measured}, at most ${gate.max} allowed`)
  if (gate.min !== undefined && value < gate.min) return says('fail', `${measured}, at least ${gate.min} needed`)
  if (gate.maxRatio === undefined) return says('pass', measured)
  if (current === undefined || (currentTraffic !== undefined && currentTraffic < least))
    return gate.max === undefined && gate.min === undefined
      ? says('inconclusive', `${measured}, and the current side has too little to compare with`)
      : says('pass', measured)
  const allowed = current * gate.maxRatio + gate.slack
  const compared = `${measured}, of the current side ${number(current)}, at most ${number(allowed)} allowed`
  return says(value > allowed ? 'fail' : 'pass', compared)
}

/**
 * Judges by the measurements alone, whoever looks and whenever: periods in a row decide. A pass needs data that covers the
 * whole dwell time, and a last period that is good.
 */
export function judgeSamples(gate: MetricGate, samples: readonly Sample[], isCovered: boolean): MetricVerdict {
  let failures = 0
  let silent = 0
  let last: ReturnType<typeof judgeSample> | undefined
  let lastSaying: ReturnType<typeof judgeSample> | undefined
  for (const sample of samples) {
    last = judgeSample(gate, sample)
    if (last.verdict !== 'inconclusive') lastSaying = last
    silent = last.verdict === 'inconclusive' ? silent + 1 : 0
    if (last.verdict === 'fail') failures++
    if (last.verdict === 'pass') failures = 0
    if (failures >= gate.failureLimit) return ['fail', `${last.text} (${counted(failures, 'period')} in a row)`]
    if (silent >= gate.inconclusiveLimit)
      return ['fail', `${counted(silent, 'period')} in a row said nothing: ${last.text}`]
  }
  if (last === undefined) return ['pending', 'no period is over yet']
  if (lastSaying?.verdict === 'fail')
    return ['inconclusive', `${lastSaying.text} (${failures} of ${gate.failureLimit} that make a failure)`]
  if (lastSaying === undefined || last.verdict === 'inconclusive') return ['inconclusive', last.text]
  return isCovered ? ['pass', last.text] : ['pending', `${last.text}; the data does not cover the dwell time yet`]
}
