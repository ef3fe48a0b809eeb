/** GET /projects and /pipelines: how much slower while three collections run, and how near to a bare Fastify route. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_TOKEN } from '../tests/fake-github/fake-github.ts'
import { spawnFakeGithub } from '../tests/fake-github/spawn.ts'
import { startCli } from '../tests/support/cli.ts'
import { startTestPostgres } from '../tests/support/servers.ts'

const PROJECTS = 30
const COLLECTIONS = 3
const CONNECTIONS = 32
const PATHS = ['/projects', '/pipelines']
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

function get(url: string): Promise<string> {
  return new Promise((done, fail) => {
    request(url, { agent }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => (response.statusCode === 200 ? done(body) : fail(new Error(`${url}: ${body}`))))
    })
      .once('error', fail)
      .end()
  })
}

const send = async (url: string, method: string, body?: unknown): Promise<any> => {
  const response = await fetch(url, {
    method,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${method} ${url}: ${JSON.stringify(answer)}`)
  return answer
}

/** Milliseconds below which 99 of 100 answers came; asked at a steady pace, whatever the answers do. */
async function p99(server: string, seconds: number, isOver = () => false): Promise<{ p99: number; count: number }> {
  const times: number[] = []
  const pending: Promise<void>[] = []
  const end = performance.now() + seconds * 1000
  for (let count = 0; performance.now() < end && !isOver(); count++) {
    const begun = performance.now()
    pending.push(
      get(server + PATHS[count % PATHS.length]).then(() => {
        times.push(performance.now() - begun)
      }),
    )
    await sleep(20)
  }
  await Promise.all(pending)
  times.sort((left, right) => left - right)
  return { p99: times[Math.floor(times.length * 0.99)] ?? 0, count: times.length }
}

/** Requests a second with as many connections as there are, each asking again as soon as it is answered. */
async function throughput(urls: readonly string[], seconds: number): Promise<number> {
  let count = 0
  const end = performance.now() + seconds * 1000
  const client = async (first: number) => {
    for (let turn = first; performance.now() < end; turn++) {
      await get(urls[turn % urls.length] as string)
      count++
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => client(index)))
  return count / seconds
}

async function startBare(body: string) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'support/bare-server.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(body)
  const [line] = await once(child.stdout, 'data')
  return { url: String(line).trim(), stop: () => child.kill('SIGTERM') }
}

/** Projects to list, and three that have something to collect. */
async function prepare(server: string, github: string): Promise<number[]> {
  const settings = { name: 'main', endpoint: `${github}/`, token: DEFAULT_TOKEN, enableGraphql: false }
  const connection = await send(`${server}/plugins/github/connections`, 'POST', settings)
  const at = `${server}/plugins/github/connections/${connection.id}`
  const offered = (await send(`${at}/remote-scopes?groupId=acme`, 'GET', undefined)).children
  const config = await send(`${at}/scope-configs`, 'POST', {
    name: 'rules',
    entities: ['TICKET', 'CODEREVIEW', 'CROSS', 'CICD'],
  })
  const data = offered.map((each: any) => ({ ...each.data, scopeConfigId: config.id }))
  await send(`${at}/scopes`, 'PUT', { data })
  const blueprints: number[] = []
  for (let index = 0; index < PROJECTS; index++) {
    const { blueprint } = await send(`${server}/projects`, 'POST', { name: `project ${index}`, metrics: [] })
    const scope = data[index]
    if (!scope) continue
    const connections = [
      { pluginName: 'github', connectionId: connection.id, scopes: [{ scopeId: String(scope.githubId) }] },
    ]
    await send(`${server}/blueprints/${blueprint.id}`, 'PATCH', { connections, timeAfter: null })
    blueprints.push(blueprint.id)
  }
  return blueprints
}

export async function run(): Promise<void> {
  const database = await startTestPostgres()
  const repositories = Array.from({ length: COLLECTIONS }, (_, index) => ({
    name: `acme/repository-${index}`,
    issues: 2000,
    pullRequests: 2000,
    workflowRuns: 2000,
  }))
  // Answers take as long as a near server's: three collections wait most of the time, as they do in life.
  const github = await spawnFakeGithub({
    world: { repositories },
    latencyMilliseconds: 50,
    tokens: [{ token: DEFAULT_TOKEN, limits: { core: 1_000_000 } as any }],
  })
  // It stands for another machine, whose processor is not ours.
  setPriority(github.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  const cli = startCli(['up'], {
    DB_URL: await database.createDatabase(),
    PORT: '0',
    DATA_FOLDER: mkdtempSync(join(tmpdir(), 'weir-bench-')),
    PIPELINE_MAX_PARALLEL: String(COLLECTIONS),
    LOGGING_LEVEL: 'warn',
  })
  try {
    const [, server = ''] = await cli.saw(/ready at (http:\S+)/)
    const blueprints = await prepare(server, github.url)
    const urls = PATHS.map((path) => server + path)
    await throughput(urls, 2)

    const bodies = await Promise.all(urls.map(get))
    const bare = await Promise.all(bodies.map(startBare))
    const bareUrls = bare.map(({ url }) => `${url}/`)
    await throughput(bareUrls, 2)
    const floor = await throughput(bareUrls, 5)
    const product = await throughput(urls, 5)
    for (const { stop } of bare) stop()
    console.log(
      `requests/s: ${product.toFixed(0)}, bare route ${floor.toFixed(0)} (${bodies.map(({ length }) => length).join(' and ')} bytes)`,
    )

    const idle = await p99(server, 10)
    const runs = await Promise.all(blueprints.map((id) => send(`${server}/blueprints/${id}/trigger`, 'POST', {})))
    const running = async () =>
      (await Promise.all(runs.map(({ id }) => send(`${server}/pipelines/${id}`, 'GET', undefined)))).filter(
        ({ status }) => status === 'TASK_RUNNING',
      ).length
    while ((await running()) < COLLECTIONS) await sleep(100)
    const busy = await p99(server, 10)
    const stillRunning = await running()
    console.log(
      `p99: idle ${idle.p99.toFixed(1)} ms of ${idle.count}, with ${COLLECTIONS} collections ${busy.p99.toFixed(1)} ms of ${busy.count}; ${stillRunning} still ran at the end`,
    )
    for (const { id } of runs) await fetch(`${server}/pipelines/${id}`, { method: 'DELETE' })
    console.log(
      `api throughput: ${product.toFixed(0)} requests/s (ratio ${(product / floor).toFixed(2)} to a bare Fastify route of the same bytes, at least 0.3)`,
    )
    console.log(`api: ${busy.p99.toFixed(1)} ms p99 (ratio ${(busy.p99 / idle.p99).toFixed(2)} to idle, at most 3)`)
  } finally {
    cli.kill('SIGTERM')
    await cli.ended
    await github.stop()
    await database.stop()
    agent.destroy()
  }
}
