import type { MetricDataQuery } from '@aws-sdk/client-cloudwatch'
import { loadCloudWatch } from 'weir-traffic'
import { ClosedAddress, guardedFetch, messageOf, RetryableError, UserError } from '../core.ts'
import { CredentialsRefused } from '../model/finding.ts'
import { isRefusal, patience } from './aws-answers.ts'
import { CALL_MS } from './call-time.ts'

/** Values by the second in which their period ends. */
export type Series = ReadonlyMap<number, number>

export interface Span {
  /** Whole periods since 1970, in seconds, so that both sides and every look use the same ones. */
  readonly from: number
  readonly to: number
  readonly periodSeconds: number
}

/** A target group and its load balancer, by their ARNs. */
export interface GroupPlace {
  readonly loadBalancer: string
  readonly group: string
}

export type Statistic = readonly [metric: string, statistic: string]

export interface Metrics {
  /** One series for each group and statistic, in their order. */
  cloudWatch(
    places: readonly GroupPlace[],
    statistics: readonly Statistic[],
    span: Span,
  ): Promise<readonly (readonly Series[])[]>
  /** Runs a query that yields one number for each point in time. */
  prometheus(query: string, span: Span): Promise<Series>
}

/** The end of an ARN, as CloudWatch names load balancers and target groups. */
const dimensionOf = (arn: string): string => arn.slice(arn.lastIndexOf(':') + 1).replace(/^loadbalancer\//, '')

export const openMetrics = (region: string, callMs = CALL_MS): Metrics => ({
  async cloudWatch(places, statistics, span) {
    const aws = await loadCloudWatch()
    const client = new aws.CloudWatchClient({ region, ...patience(callMs) })
    const queries = places.flatMap((place, side) =>
      statistics.map((statistic, index) => queryOf(`s${side}x${index}`, place, statistic, span)),
    )
    const found = new Map<string, Map<number, number>>(queries.map(({ Id }) => [Id!, new Map()]))
    const input = {
      MetricDataQueries: queries,
      StartTime: new Date(span.from * 1000),
      EndTime: new Date(span.to * 1000),
      ScanBy: 'TimestampAscending' as const,
    }
    try {
      for await (const page of aws.paginateGetMetricData({ client }, input))
        for (const { Id, Timestamps = [], Values = [] } of page.MetricDataResults ?? [])
          for (const [index, at] of Timestamps.entries())
            found.get(Id!)?.set(at.getTime() / 1000 + span.periodSeconds, Values[index]!)
    } catch (error) {
      throw translated('CloudWatch', error)
    } finally {
      client.destroy()
    }
    return places.map((_, side) => statistics.map((__, index) => found.get(`s${side}x${index}`)!))
  },
  prometheus,
})

const queryOf = (
  id: string,
  place: GroupPlace,
  [metric, statistic]: Statistic,
  { periodSeconds }: Span,
): MetricDataQuery => ({
  Id: id,
  MetricStat: {
    Metric: {
      Namespace: 'AWS/ApplicationELB',
      MetricName: metric,
      Dimensions: [
        { Name: 'LoadBalancer', Value: dimensionOf(place.loadBalancer) },
        { Name: 'TargetGroup', Value: dimensionOf(place.group) },
      ],
    },
    Period: periodSeconds,
    Stat: statistic,
  },
})

/** Names of AWS errors that pass by waiting; everything else has to be repaired by somebody. */
const PASSING =
  /Throttl|LimitExceeded|TooManyRequests|InternalService|ServiceUnavailable|Expired|Timeout|ECONN|ENOTFOUND/i

function translated(what: string, error: unknown): Error {
  const { name, code } = error as { name?: string; code?: string }
  const text = `Cannot read ${what}: ${name ?? ''}: ${messageOf(error)}`
  if (PASSING.test(`${name} ${code}`)) return new RetryableError(text, { cause: error })
  return isRefusal(error)
    ? new CredentialsRefused(text, { cause: error })
    : new UserError(text, { status: 502, cause: error })
}

const PROMETHEUS_TIMEOUT_MS = 30_000

interface RangeAnswer {
  readonly status?: string
  readonly error?: string
  readonly data?: {
    readonly resultType?: string
    readonly result?: readonly { values?: readonly [number, string][] }[]
  }
}

async function prometheus(query: string, { from, to, periodSeconds }: Span): Promise<Series> {
  const base = process.env.PROMETHEUS_URL
  if (!base) throw new UserError('The plan has a prometheus gate: set PROMETHEUS_URL to the address of the server.')
  const token = process.env.PROMETHEUS_TOKEN
  const body = new URLSearchParams({
    query,
    start: String(from + periodSeconds),
    end: String(to),
    step: String(periodSeconds),
  })
  let status: number
  let answer: RangeAnswer
  try {
    const response = await guardedFetch(`${base.replace(/\/$/, '')}/api/v1/query_range`, {
      method: 'POST',
      body: String(body),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
      },
      signal: AbortSignal.timeout(PROMETHEUS_TIMEOUT_MS),
    })
    status = response.status
    answer = (await response.json().catch(() => ({}))) as RangeAnswer
  } catch (error) {
    if (error instanceof ClosedAddress) throw error
    throw new RetryableError(`Cannot read Prometheus: ${messageOf((error as Error).cause ?? error)}`, { cause: error })
  }
  if (status === 429 || status >= 500) throw new RetryableError(`Prometheus answered ${status} ${answer.error ?? ''}`)
  if (answer.status !== 'success')
    throw new UserError(`Prometheus refused ${query} (HTTP ${status}): ${answer.error ?? 'no answer in its format'}`)
  const result = answer.data?.result ?? []
  if (result.length > 1)
    throw new UserError(
      `${query} gives ${result.length} series; write it so that it gives one, for example with sum().`,
    )
  return new Map(
    (result[0]?.values ?? [])
      .map(([at, text]): [number, number] => [at, Number(text)])
      .filter(([, value]) => Number.isFinite(value)),
  )
}
