/** Tasks that mostly wait for their source: how much faster two and four workers are than one. */
import { openDatabase } from '../src/database/open.ts'
import { startFakeFleet } from '../tests/fake-fleet/fake-fleet.ts'
import { until } from '../tests/pipelines/support/test-control.ts'
import { type Engine, missing, start } from '../tests/support/servers.ts'
import { addBoards, openFleet } from '../tests/workers/support/fleet.ts'

/** The tasks of one worker at a time, each with one request under way. */
const CONCURRENCY = 4
const LATENCY_MS = 400
const ITEMS = 12
const BOARDS = 96

/** npm run bench -- workers [--engine mysql] [--boards 96] */
export async function run(parameters: readonly string[]): Promise<void> {
  const option = (name: string, otherwise: string) =>
    parameters.includes(name) ? (parameters[parameters.indexOf(name) + 1] ?? otherwise) : otherwise
  const engine = option('--engine', 'postgres') as Engine
  const boards = Number(option('--boards', String(BOARDS)))
  const reason = missing[engine]()
  if (reason) throw new Error(reason)
  const server = await start[engine]()
  try {
    const seconds = new Map<number, number>()
    for (const workers of [1, 2, 4]) {
      seconds.set(workers, await measure(await server.createDatabase(), workers, boards))
      console.log(`${workers} workers: ${seconds.get(workers)?.toFixed(1)} s for ${boards} tasks`)
    }
    const one = seconds.get(1) as number
    const shares = [2, 4].map((workers) => one / (seconds.get(workers) as number) / workers)
    const speedUps = [2, 4].map((workers) => (one / (seconds.get(workers) as number)).toFixed(2))
    const least = Math.min(...shares)
    console.log(
      `workers: ${speedUps.join(' and ')} times as fast with 2 and 4 (ratio ${least.toFixed(2)} to the ideal, at least 0.85)`,
    )
  } finally {
    await server.stop()
  }
}

/** Seconds from the start of a run to its end; all processes are up before the run starts. */
async function measure(url: string, workers: number, boards: number): Promise<number> {
  const database = await openDatabase(url)
  const vendor = await startFakeFleet(ITEMS)
  const fleet = await openFleet({ url, database })
  try {
    vendor.latencyMs = LATENCY_MS
    await fleet.server()
    const count = Array.from({ length: workers }, () => fleet.worker({ concurrency: CONCURRENCY }))
    await Promise.all(count)
    const { pipelines } = fleet.control.services
    const finish = async (name: string, first: number, boardCount: number) => {
      const tasks = await addBoards(fleet.control, { name, endpoint: vendor.url, count: boardCount, first })
      const begun = performance.now()
      const { id } = await pipelines.create({ name, plan: [tasks] })
      const { status, message } = await until(async () => {
        const pipeline = await pipelines.get(id)
        return pipeline.finishedAt !== null && pipeline
      })
      if (status !== 'TASK_COMPLETED') throw new Error(message)
      return (performance.now() - begun) / 1000
    }
    // Threads load their code with the first task.
    await finish('warm up', 10_000, workers * CONCURRENCY)
    return await finish('measured', 1, boards)
  } finally {
    await fleet.close()
    vendor.close()
    await database.close()
  }
}
