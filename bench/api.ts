/** GET /projects and /pipelines: how much slower they are while three collections run, and how near to a bare Fastify route. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_TOKEN } from '../tests/fake-github/fake-github.ts'
import { spawnFakeGithub } from '../tests/fake-github/spawn.ts'
import { startCli } from '../tests/support/cli.ts'
import { peakMegabytes } from '../tests/support/peak-memory.ts'
import { startTestPostgres } from '../tests/support/servers.ts'

const PROJECTS = 30
/** Past runs, to be listed. */
const RUNS = 30
const COLLECTIONS = 3
const CONNECTIONS = 64
const TURNS = 6
/** Long enough that a hundredth of the answers is more than a few. */
const BUSY_SECONDS = 30
const IDLE_SECONDS = 30
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

/** Milliseconds that each answer took. Requests are sent at a steady pace, however long the answers take. */
async function times(server: string, seconds: number): Promise<number[]> {
  const taken: number[] = []
  const pending: Promise<void>[] = []
  const end = performance.now() + seconds * 1000
  for (let count = 0; performance.now() < end; count++) {
    const begun = performance.now()
    pending.push(
      get(server + PATHS[count % PATHS.length]).then(() => {
        taken.push(performance.now() - begun)
      }),
    )
    await sleep(20)
  }
  await Promise.all(pending)
  return taken
}
const p99 = (taken: readonly number[]) =>
  taken.toSorted((left, right) => left - right)[Math.floor(taken.length * 0.99)] ?? 0

/** Requests per second over all connections, each of which asks again as soon as it is answered. */
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

async function startBare(bodies: Record<string, string>) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'support/bare-server.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(JSON.stringify(bodies))
  const [line] = await once(child.stdout, 'data')
  return { url: String(line).trim(), stop: () => child.kill('SIGTERM') }
}

/** Makes projects to list, and gives three of them something to collect. */
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
  const plan = [[{ plugin: 'dora', subtasks: [], options: { projectName: 'none' } }]]
  for (let index = 0; index < RUNS; index++) {
    const { id } = await send(`${server}/pipelines`, 'POST', { name: `run ${index}`, plan })
    await send(`${server}/pipelines/${id}`, 'DELETE')
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
  // As slow as GitHub, because the fake's processor time is not what is measured.
  const github = await spawnFakeGithub({
    world: { repositories },
    latencyMilliseconds: 150,
    tokens: [{ token: DEFAULT_TOKEN, limits: { core: 1_000_000 } as any }],
  })
  // The fake stands for another machine with another processor, so it gives way at once, if chrt is there to arrange that.
  setPriority(github.pid, constants.priority.PRIORITY_LOW)
  spawnSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(github.pid)])
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-bench-'))
  const cli = startCli(['up'], {
    DB_URL: await database.createDatabase(),
    PORT: '0',
    DATA_FOLDER: dataFolder,
    PIPELINE_MAX_PARALLEL: String(COLLECTIONS),
    LOGGING_LEVEL: 'warn',
  })
  try {
    const [, server = ''] = await cli.saw(/ready at (http:\S+)/)
    const blueprints = await prepare(server, github.url)
    const urls = PATHS.map((path) => server + path)
    await throughput(urls, 2)

    const bodies = await Promise.all(urls.map(get))
    const bare = await startBare(Object.fromEntries(PATHS.map((path, index) => [path, bodies[index] as string])))
    const bareUrls = PATHS.map((path) => bare.url + path)
    await throughput(bareUrls, 2)
    // In turns, so that other work on the machine affects both.
    let floor = 0
    let product = 0
    for (let turn = 0; turn < TURNS; turn++) {
      floor += (await throughput(bareUrls, 1)) / TURNS
      product += (await throughput(urls, 1)) / TURNS
    }
    bare.stop()
    console.log(
      `requests/s: ${product.toFixed(0)}, bare route ${floor.toFixed(0)} (${bodies.map(({ length }) => length).join(' and ')} bytes)`,
    )

    const before = await times(server, IDLE_SECONDS / 2)
    const runs = await Promise.all(blueprints.map((id) => send(`${server}/blueprints/${id}/trigger`, 'POST', {})))
    const running = async () =>
      (await Promise.all(runs.map(({ id }) => send(`${server}/pipelines/${id}`, 'GET')))).filter(
        ({ status }) => status === 'TASK_RUNNING',
      ).length
    while ((await running()) < COLLECTIONS) await sleep(100)
    const busy = await times(server, BUSY_SECONDS)
    const stillRunning = await running()
    const megabytes = peakMegabytes(cli.pid)
    for (const { id } of runs) await send(`${server}/pipelines/${id}`, 'DELETE')
    while ((await running()) > 0) await sleep(100)
    // Before and after, so that other work on the machine affects both.
    const idle = [...before, ...(await times(server, IDLE_SECONDS / 2))]
    console.log(
      `p99: idle ${p99(idle).toFixed(1)} ms of ${idle.length}, with ${COLLECTIONS} collections ${p99(busy).toFixed(1)} ms of ${busy.length}; ${stillRunning} still ran at the end${megabytes ? `; the server had ${megabytes} MB at its peak` : ''}`,
    )
    console.log(
      `api throughput: ${product.toFixed(0)} requests/s (ratio ${(product / floor).toFixed(2)} to a bare Fastify route of the same bytes, at least 0.3)`,
    )
    console.log(`api: ${p99(busy).toFixed(1)} ms p99 (ratio ${(p99(busy) / p99(idle)).toFixed(2)} to idle, at most 3)`)
  } finally {
    cli.kill('SIGTERM')
    await cli.ended
    await github.stop()
    await database.stop()
    agent.destroy()
    rmSync(dataFolder, { recursive: true, force: true })
  }
}
