import { beforeAll, expect, it } from 'vitest'
import { describeEachDatabase } from '../../../tests/support/databases.ts'
import { deleteRows, findRow, insertRow, updateRows } from '../../control-plane/store.ts'
import { migrate } from '../../database/migrate.ts'
import { systemTables } from '../../system/index.ts'
import { pipelines, tasks } from '../../system/pipelines.ts'
import { pipelineLeases, scopeLeases, servers } from '../../system/runs.ts'
import { taskRuns } from '../../system/workers.ts'
import { createLeases } from '../leases.ts'
import { cancelPipeline } from '../queue.ts'
import { joinServers } from '../servers.ts'
import {
  claimRun,
  endRun,
  forgetRuns,
  openRuns,
  reserveRun,
  type TaskRun,
  waitingRuns,
  wantedTokens,
  writeRun,
} from './task-runs.ts'

const SERVER = 'a server'
const WORKER = 'a worker'
const COMPLETED = { status: 'TASK_COMPLETED', message: '' } as const

describeEachDatabase('a task that was handed out', (test) => {
  beforeAll(async () => {
    await migrate(test.database, systemTables)
    await insertRow(test.database.kysely, servers, { holder: WORKER })
    await insertRow(test.database.kysely, servers, { holder: SERVER })
  })

  const kysely = () => test.database.kysely
  const never = new AbortController().signal
  const leases = async () => {
    const membership = await joinServers(test.database, `${SERVER} ${Math.random()}`, 60_000)
    return createLeases(test.database, () => ({ leaseHolder: SERVER, membership }))
  }
  async function addPipeline(): Promise<number> {
    const id = await insertRow(kysely(), pipelines, { name: 'a run', status: 'TASK_RUNNING' })
    await insertRow(kysely(), pipelineLeases, { pipeline_id: id, holder: SERVER, cancel_requested: false })
    return id
  }
  async function handOut(project = '', lease?: string) {
    const pipelineId = await addPipeline()
    const id = await insertRow(kysely(), tasks, { plugin: 'any', status: 'TASK_CREATED', pipeline_id: pipelineId })
    const lessee = { task_id: id, pipeline_id: pipelineId }
    const end = await (await leases()).take(lease ? [lease] : [], lessee, never, async () => {})
    const handed = { id, plugin: 'any', connection: null, isAlone: false, pipelineId, project, leaseHolder: SERVER }
    const run = (await writeRun(test.database, { ...handed, leases: end?.tokens ?? [] }, '1')) as TaskRun
    return { id, pipelineId, run, end: end as NonNullable<typeof end> }
  }
  const holderOf = async (name: string) => (await findRow(kysely(), scopeLeases, { name }))?.holder

  it('is taken by one worker, with its leases, which its server then leaves alone', async () => {
    const { run, end, id } = await handOut('', 'one scope')
    const taken = await Promise.all([claimRun(test.database, run, WORKER), claimRun(test.database, run, WORKER)])
    expect(taken.sort()).toEqual([false, true])
    expect(await findRow(kysely(), tasks, { id })).toMatchObject({ status: 'TASK_RUNNING' })
    await end()
    expect(await holderOf('one scope')).toBe(WORKER)
    expect(await endRun(test.database, run, WORKER, COMPLETED)).toBe(true)
    expect(await holderOf('one scope')).toBeUndefined()
    expect(await endRun(test.database, run, WORKER, COMPLETED)).toBe(false)
  })

  it('is not taken when its pipeline was cancelled, and a worker that has it hears of that', async () => {
    const waiting = await handOut()
    await kysely()
      .transaction()
      .execute((transaction) => cancelPipeline(transaction, waiting.pipelineId))
    expect(await claimRun(test.database, waiting.run, WORKER)).toBe(false)
    const running = await handOut()
    expect(await claimRun(test.database, running.run, WORKER)).toBe(true)
    expect(await wantedTokens(kysely(), WORKER)).toContain(running.run.token)
    await kysely()
      .transaction()
      .execute((transaction) => cancelPipeline(transaction, running.pipelineId))
    expect(await wantedTokens(kysely(), WORKER)).not.toContain(running.run.token)
    await endRun(test.database, running.run, WORKER, COMPLETED)
  })

  it('is not taken when somebody else has its lease, its pipeline or its place, or took the worker for dead', async () => {
    const lost = await handOut('', 'lost scope')
    await deleteRows(kysely(), scopeLeases, { name: 'lost scope' })
    expect(await claimRun(test.database, lost.run, WORKER)).toBe(false)
    const moved = await handOut()
    await updateRows(kysely(), pipelineLeases, { pipeline_id: moved.pipelineId }, { holder: 'another server' })
    expect(await claimRun(test.database, moved.run, WORKER)).toBe(false)
    expect(await claimRun(test.database, (await handOut()).run, 'a dead worker')).toBe(false)
    const { run } = await handOut()
    expect(await claimRun(test.database, { ...run, token: 'of an earlier attempt' }, WORKER)).toBe(false)
    expect(await claimRun(test.database, run, WORKER)).toBe(true)
    await endRun(test.database, run, WORKER, COMPLETED)
  })

  it('is offered while its server holds the pipeline, in the order of positions', async () => {
    const offered = async (...left: string[]) => (await waitingRuns(kysely(), left)).map(({ task_id }) => task_id)
    const [first, second] = [await handOut('offered'), await handOut('offered')]
    const mine = async (...left: string[]) =>
      (await offered(...left)).filter((id) => id === first.id || id === second.id)
    expect(await mine()).toEqual([first.id, second.id])
    expect(await mine(first.run.token)).toEqual([second.id])
    await updateRows(kysely(), pipelineLeases, { pipeline_id: first.pipelineId }, { holder: 'another server' })
    await updateRows(kysely(), pipelineLeases, { pipeline_id: second.pipelineId }, { cancel_requested: true })
    expect(await mine()).toEqual([])
  })

  it('waits only while its server holds the pipeline, and is then forgotten', async () => {
    const open = async () => (await openRuns(kysely())).map(({ task_id }) => task_id)
    const [left, kept, running] = [await handOut(), await handOut(), await handOut()]
    expect(await claimRun(test.database, running.run, WORKER)).toBe(true)
    expect(await open()).toEqual(expect.arrayContaining([left.id, kept.id, running.id]))
    // Another server, which runs tasks itself, takes the pipeline over.
    await updateRows(kysely(), pipelineLeases, { pipeline_id: left.pipelineId }, { holder: 'another server' })
    await deleteRows(kysely(), pipelineLeases, { pipeline_id: running.pipelineId })
    expect(await open()).not.toContain(left.id)
    await forgetRuns(test.database, async () => false)
    const stored = async ({ id }: { id: number }) => (await findRow(kysely(), taskRuns, { task_id: id })) !== undefined
    expect([await stored(left), await stored(kept), await stored(running)]).toEqual([false, true, true])
    expect(await open()).toEqual(expect.arrayContaining([kept.id, running.id]))
    await endRun(test.database, running.run, WORKER, COMPLETED)
  })

  it('is reserved by one worker that lives, and keeps the time of its first start', async () => {
    const began_at = new Date('2026-01-31T00:00:00Z')
    const { run, id } = await handOut()
    await updateRows(kysely(), tasks, { id }, { status: 'TASK_RESUME', began_at })
    const again = async () => (await findRow(kysely(), taskRuns, { task_id: id })) as TaskRun
    expect(await reserveRun(kysely(), run, 'a worker that dies')).toBe(true)
    // The first worker has no row in `servers`, so it counts as dead and another may reserve the task.
    expect(await reserveRun(kysely(), await again(), WORKER)).toBe(true)
    expect(await reserveRun(kysely(), await again(), WORKER)).toBe(true)
    expect(await reserveRun(kysely(), await again(), 'a third worker')).toBe(false)
    expect(await claimRun(test.database, run, WORKER)).toBe(true)
    expect(await findRow(kysely(), tasks, { id })).toMatchObject({ status: 'TASK_RUNNING', began_at })
    await endRun(test.database, run, WORKER, COMPLETED)
  })

  it('waits for one task of each other project, however many that has', async () => {
    const large: TaskRun[] = []
    for (let number = 0; number < 10; number++) large.push((await handOut('large')).run)
    await claimRun(test.database, large[0] as TaskRun, WORKER)
    const small = [(await handOut('small')).run, (await handOut('small')).run]
    const order = [...large.slice(1), ...small].sort((one, other) => one.position - other.position)
    const places = order.flatMap(({ project }, index) => (project === 'small' ? [index] : []))
    expect(Math.max(...places)).toBeLessThanOrEqual(4)
  })
})
