/**
 * A large organisation through the real server: a thousand projects, one of them with fifty thousand scopes, and runs of ten
 * thousand tasks. The time of each request has to grow no faster than the size of what is asked for. Memory is that of the
 * server.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startCli } from '../tests/support/cli.ts'
import { peakMegabytes } from '../tests/support/peak-memory.ts'
import { type Engine, missing, start } from '../tests/support/servers.ts'

interface Sizes {
  readonly few: number
  readonly projects: number
  readonly scopes: number
  readonly tasks: number
}
type Send = (method: string, path: string, body?: unknown) => Promise<any>
type Show = (what: string, seconds: number, more?: string) => void

const TURNS = 7
const SCOPES_AT_ONCE = 2500
const FINISHED = ['TASK_COMPLETED', 'TASK_FAILED', 'TASK_CANCELLED', 'TASK_PARTIAL']

async function timed<Result>(body: () => Promise<Result>): Promise<{ seconds: number; result: Result }> {
  const begun = performance.now()
  const result = await body()
  return { seconds: (performance.now() - begun) / 1000, result }
}

/** The median of several tries, so that other work on the machine does not decide. */
async function usual(body: () => Promise<unknown>): Promise<number> {
  const all: number[] = []
  for (let turn = 0; turn < TURNS; turn++) all.push((await timed(body)).seconds)
  return all.toSorted((one, other) => one - other)[Math.floor(TURNS / 2)] as number
}

const sender =
  (server: string): Send =>
  async (method, path, body) => {
    const response = await fetch(server + path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer: any = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer.message}`)
    return answer
  }

/** Creates projects, each with one run in the list. */
async function createProjects(send: Send, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++) {
    const { blueprint } = await send('POST', '/projects', { name: `project ${index}` })
    const { id } = await send('POST', `/blueprints/${blueprint.id}/trigger`, {})
    await send('DELETE', `/pipelines/${id}`)
  }
}

/** Measures how many times as long the whole list takes with all projects as with a few, and the time for one page. */
async function measureLists(send: Send, { few, projects }: Sizes, show: Show) {
  await createProjects(send, 0, few)
  const page = () => send('GET', `/projects?pageSize=${few}`)
  const small = await usual(page)
  await createProjects(send, few, projects)
  const large = await usual(() => send('GET', `/projects?pageSize=${projects}`))
  const smallAgain = await usual(page)
  show(`list of ${few} projects`, small, `${(smallAgain * 1000).toFixed(1)} ms a page when there are ${projects}`)
  show(`list of ${projects} projects`, large)
  return { large, ratio: large / Math.max(small, smallAgain) }
}

async function measureScopes(send: Send, { scopes: count }: Sizes, show: Show): Promise<void> {
  const settings = { name: 'large', endpoint: 'http://127.0.0.1:1/', token: 'none', enableGraphql: false }
  const connection = await send('POST', '/plugins/github/connections', settings)
  const ids = Array.from({ length: count }, (_, index) => index + 1)
  const stored = await timed(async () => {
    for (let start = 0; start < count; start += SCOPES_AT_ONCE) {
      const data = ids
        .slice(start, start + SCOPES_AT_ONCE)
        .map((id) => ({ githubId: id, name: `r${id}`, fullName: `acme/r${id}`, cloneUrl: `http://127.0.0.1:1/r${id}` }))
      await send('PUT', `/plugins/github/connections/${connection.id}/scopes`, { data })
    }
  })
  show(`${count} scopes stored`, stored.seconds)
  const { blueprint } = await send('POST', '/projects', { name: 'large' })
  const scopes = ids.map((id) => ({ scopeId: String(id) }))
  const connections = [{ pluginName: 'github', connectionId: connection.id, scopes }]
  const at = `/blueprints/${blueprint.id}`
  show('chosen in its blueprint', (await timed(() => send('PATCH', at, { connections }))).seconds)
  const { result: project, seconds } = await timed(() => send('GET', '/projects/large'))
  show('read', seconds)
  const renamed = { ...project.blueprint, name: 'renamed' }
  show('renamed as the web client does', (await timed(() => send('PATCH', at, renamed))).seconds)
  show('in the list of projects', (await timed(() => send('GET', '/projects'))).seconds)
  const triggered = await timed(() => send('POST', `${at}/trigger`, {}))
  show(`triggered: ${triggered.result.totalTasks} tasks`, triggered.seconds)
  const run = `/pipelines/${triggered.result.id}`
  show('its tasks listed', (await timed(() => send('GET', `${run}/tasks`))).seconds)
  const cancelled = await timed(async () => {
    await send('DELETE', run)
    await untilFinished(send, run)
  })
  show('cancelled', cancelled.seconds)
  show('deleted', (await timed(() => send('DELETE', '/projects/large'))).seconds)
}

async function untilFinished(send: Send, run: string): Promise<any> {
  for (;;) {
    const pipeline = await send('GET', run)
    if (FINISHED.includes(pipeline.status)) return pipeline
    await sleep(100)
  }
}

/** Seconds per thousand tasks: for a run to the end, and for a run that is cancelled when a few have run. */
async function measureRun(send: Send, count: number, show: Show) {
  const plan = [
    Array.from({ length: count }, (_, index) => ({
      plugin: 'org',
      subtasks: ['setProjectMapping'],
      options: { projectMappings: [{ projectName: `none ${index}`, scopes: [] }] },
    })),
  ]
  const create = () => send('POST', '/pipelines', { name: `${count} tasks`, plan })
  const ran = await timed(async () => untilFinished(send, `/pipelines/${(await create()).id}`))
  if (ran.result.status !== 'TASK_COMPLETED') throw new Error(`the run ended with ${ran.result.message}`)
  show(`${count} tasks run`, ran.seconds)
  const run = `/pipelines/${(await create()).id}`
  while ((await send('GET', run)).finishedTasks === 0) await sleep(20)
  const cancelled = await timed(async () => {
    await send('DELETE', run)
    await untilFinished(send, run)
  })
  show(`${count} tasks cancelled while they run`, cancelled.seconds)
  const thousand = 1000 / count
  return { run: ran.seconds * thousand, cancel: cancelled.seconds * thousand }
}

async function measure(engine: Engine, sizes: Sizes): Promise<void> {
  const database = await start[engine]()
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-bench-'))
  const cli = startCli(['up'], {
    DB_URL: await database.createDatabase(),
    PORT: '0',
    DATA_FOLDER: dataFolder,
    LOGGING_LEVEL: 'warn',
  })
  const show: Show = (what, seconds, more) =>
    console.log(`${engine}: ${what}: ${seconds.toFixed(3)} s${more ? `, ${more}` : ''} (${peakMegabytes(cli.pid)} MB)`)
  try {
    const [, server = ''] = await cli.saw(/ready at (http:\S+)/)
    const send = sender(server)
    const { large, ratio } = await measureLists(send, sizes, show)
    const tenth = await measureRun(send, sizes.tasks / 10, show)
    const whole = await measureRun(send, sizes.tasks, show)
    await measureScopes(send, sizes, show)
    const times = (one: number, other: number) => `${(one / other).toFixed(2)} times that of a tenth of them`
    console.log(
      `scale, runs: ${whole.run.toFixed(2)} s a thousand tasks of ${sizes.tasks} (ratio ${times(whole.run, tenth.run)}), ` +
        `cancelled in ${whole.cancel.toFixed(2)} s a thousand (${times(whole.cancel, tenth.cancel)}); ${engine}`,
    )
    console.log(
      `scale: ${(large * 1000).toFixed(0)} ms for the list of ${sizes.projects} projects ` +
        `(ratio ${ratio.toFixed(2)} to that of ${sizes.few}, at most 5; the server had ${peakMegabytes(cli.pid)} MB at its peak; ${engine})`,
    )
  } finally {
    cli.kill('SIGTERM')
    await cli.ended
    await database.stop()
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

export async function run(rest: string[]): Promise<void> {
  const { values } = parseArgs({
    args: rest,
    options: {
      engine: { type: 'string', default: 'postgres' },
      projects: { type: 'string', default: '1000' },
      scopes: { type: 'string', default: '50000' },
      tasks: { type: 'string', default: '10000' },
    },
  })
  const engine = values.engine as Engine
  const reason = missing[engine]()
  if (reason) throw new Error(reason)
  const [projects, scopes, tasks] = [values.projects, values.scopes, values.tasks].map(Number) as [
    number,
    number,
    number,
  ]
  await measure(engine, { few: 50, projects, scopes, tasks })
}
