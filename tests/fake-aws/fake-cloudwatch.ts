import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as sdk from '@aws-sdk/client-cloudwatch'
import { jsonProblems } from './sdk-model.ts'

export interface FakeCloudWatch {
  readonly url: string
  /** Answered instead of data, as for throttling or missing rights. */
  refusal: { readonly code: string; readonly message: string } | undefined
  /** Sets the value of a target group's metric in the minute that begins at this second. */
  put(metric: string, targetGroupArn: string, start: number, value: number): void
  close(): Promise<void>
}

interface Query {
  readonly Id: string
  readonly MetricStat: {
    readonly Metric: {
      readonly Namespace: string
      readonly MetricName: string
      readonly Dimensions: readonly { readonly Name: string; readonly Value: string }[]
    }
    readonly Period: number
    readonly Stat: string
  }
}

/** So small that every longer answer has several pages. */
const PAGE = 3

/** GetMetricData over its real protocol, AWS JSON 1.0. Periods are whole, zeros are left out, and answers have pages. */
export async function startFakeCloudWatch(): Promise<FakeCloudWatch> {
  const points = new Map<string, Map<number, number>>()

  function valuesOf({ MetricStat: { Metric, Period, Stat } }: Query, from: number, to: number): [number, number][] {
    if (Metric.Namespace !== 'AWS/ApplicationELB' || Period % 60 !== 0) throw new Error('ValidationError')
    const of = (name: string) => Metric.Dimensions.find(({ Name }) => Name === name)?.Value ?? ''
    if (!/^app\/.+\/[0-9a-f]{16}$/.test(of('LoadBalancer'))) return []
    const found = new Map<number, number[]>()
    for (const [start, value] of points.get(`${Metric.MetricName} ${of('TargetGroup')}`) ?? []) {
      const period = Math.floor(start / Period) * Period
      if (period >= from && period < to) found.set(period, [...(found.get(period) ?? []), value])
    }
    return [...found]
      .toSorted(([left], [right]) => left - right)
      .map(([at, values]) => [at, Stat === 'Sum' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values)])
  }

  const fake = {
    refusal: undefined as FakeCloudWatch['refusal'],
    put(metric: string, arn: string, start: number, value: number) {
      const key = `${metric} ${arn.slice(arn.lastIndexOf(':') + 1)}`
      points.set(key, (points.get(key) ?? new Map()).set(start, value))
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }

  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body))
    const isSigned = String(request.headers.authorization).includes('/monitoring/aws4_request')
    const isKnown = request.headers['x-amz-target'] === 'GraniteServiceVersion20100801.GetMetricData'
    if (!isSigned || !isKnown) return send(400, { __type: 'UnknownOperationException' })
    if (fake.refusal !== undefined) return send(400, { __type: fake.refusal.code, message: fake.refusal.message })
    const { MetricDataQueries, StartTime, EndTime, NextToken = '0' } = JSON.parse(Buffer.concat(chunks).toString())
    const from = Number(NextToken)
    const all = (MetricDataQueries as Query[]).map((query) => [query.Id, valuesOf(query, StartTime, EndTime)] as const)
    const isMore = all.some(([, values]) => values.length > from + PAGE)
    const answer = {
      MetricDataResults: all.map(([Id, values]) => ({
        Id,
        StatusCode: isMore ? 'PartialData' : 'Complete',
        Timestamps: values.slice(from, from + PAGE).map(([at]) => at),
        Values: values.slice(from, from + PAGE).map(([, value]) => value),
      })),
      ...(isMore ? { NextToken: String(from + PAGE) } : {}),
    }
    const problems = jsonProblems(sdk, 'GetMetricData', answer)
    if (problems.length > 0) return send(500, { __type: 'NotInTheModel', message: problems.join('; ') })
    send(200, answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(fake, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}
