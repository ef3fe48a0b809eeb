/** Traces and logs of a real server: from a request to the source that it asks, and from a task to its subtasks. */
import { mkdtempSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '../pipelines/support/test-control.ts'
import { type Cli, startCli } from '../support/cli.ts'
import { describeOneDatabase } from '../support/databases.ts'

const TOKEN = 'ghp_plantedTokenThatNobodyMaySee'
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'

interface Received {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly kind: number
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[]
}

const bodyOf = async (request: IncomingMessage) => Buffer.concat(await request.toArray()).toString()

/** Answers every request, over HTTP on loopback. */
async function listen(answer: (request: IncomingMessage) => Promise<unknown>) {
  const server = createServer(async (request, response) => {
    const body = await answer(request)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, stop: () => server.close() }
}

describeOneDatabase('a server that is watched', (test) => {
  const spans: Received[] = []
  const sentHeaders: IncomingMessage['headers'][] = []
  let receiver: Awaited<ReturnType<typeof listen>>
  let vendor: Awaited<ReturnType<typeof listen>>
  let cli: Cli
  let address: string
  let metricsPort: number
  const attribute = ({ attributes }: Received, name: string) =>
    Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0]
  const spanNamed = (name: string) => until(async () => spans.find((span) => span.name === name))

  beforeAll(async () => {
    receiver = await listen(async (request) => {
      const { resourceSpans } = JSON.parse(await bodyOf(request))
      for (const { scopeSpans } of resourceSpans) for (const each of scopeSpans) spans.push(...each.spans)
      return {}
    })
    vendor = await listen(async ({ headers }) => {
      sentHeaders.push(headers)
      return { login: 'octocat' }
    })
    const free = await listen(async () => ({}))
    metricsPort = free.port
    free.stop()
    cli = startCli(['up'], {
      DB_URL: test.url,
      DATA_FOLDER: mkdtempSync(join(tmpdir(), 'weir-watch-')),
      PORT: '0',
      METRICS_PORT: String(metricsPort),
      AUTH: 'token',
      AUTH_TOKEN: 'the-token-of-this-test',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      LOGGING_FILE: 'stderr',
    })
    address = (await cli.saw(/ready at (\S+)/))[1] as string
  })
  afterAll(async () => {
    cli.kill('SIGTERM')
    await cli.ended
    receiver.stop()
    vendor.stop()
  })

  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(address + path, {
      method,
      headers: {
        authorization: 'Bearer the-token-of-this-test',
        'content-type': 'application/json',
        traceparent: `00-${TRACE}-${PARENT}-01`,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return (await response.json()) as any
  }

  it('continues the trace of whoever asks, down to the source, which hears nothing of it', async () => {
    await ask('POST', '/plugins/github/test', {
      name: 'main',
      endpoint: `${vendor.url}/`,
      authMethod: 'AccessToken',
      token: TOKEN,
    })
    const request = await spanNamed('POST /plugins/github/test')
    expect(request).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, kind: 2 })
    const outside = await spanNamed('GET 127.0.0.1')
    expect(outside).toMatchObject({ traceId: TRACE, kind: 3 })
    expect(attribute(outside, 'http.response.status_code')).toBe(200)
    expect(sentHeaders.length).toBeGreaterThan(0)
    expect(sentHeaders.filter((headers) => headers.traceparent)).toEqual([])
    expect(JSON.stringify(spans)).not.toContain(TOKEN)
  })

  it('has a span for a task of a thread and for its subtasks, and its lines in the log with their ids', async () => {
    await ask('POST', '/projects', { name: 'shop' })
    const plan = [[{ plugin: 'dora', options: { projectName: 'shop' } }]]
    const { id } = await ask('POST', '/pipelines', { name: 'by hand', plan })
    const task = await spanNamed('task dora')
    expect(Number(attribute(task, 'weir.pipeline'))).toBe(id)
    expect(attribute(task, 'weir.status')).toBe('TASK_COMPLETED')
    const subtask = await until(async () => spans.find(({ name }) => name.startsWith('subtask ')))
    expect(subtask).toMatchObject({ traceId: task.traceId, parentSpanId: task.spanId })
    const lines = await until(async () => {
      const own = cli
        .errors()
        .split('\n')
        .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
        .filter((line) => line.pipeline === id)
      return own.some(({ msg }) => /^ends: TASK_COMPLETED/.test(msg)) && own
    })
    expect(lines).toContainEqual(
      expect.objectContaining({ plugin: 'dora', task: expect.any(Number), msg: 'completed' }),
    )
  })

  it('answers Prometheus on a port of its own without sign-in, and nothing else', async () => {
    const own = `http://127.0.0.1:${metricsPort}`
    const text = await until(async () => {
      const now = await (await fetch(`${own}/metrics`)).text()
      return now.includes('weir_task_duration_seconds_count{plugin="dora",status="TASK_COMPLETED"} 1') && now
    })
    expect(text).toMatch(/weir_source_request_duration_seconds_count\{connection="[^"]+",status="200"\} \d/)
    expect((await fetch(`${own}/projects`)).status).toBe(404)
    expect((await fetch(`${address}/metrics`)).status).toBe(401)
  })
})
