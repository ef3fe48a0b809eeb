import { setTimeout as sleep } from 'node:timers/promises'
import type { Pipeline } from '../control-plane/records.ts'
import { newestTasks, readPipelines, readTasks } from '../control-plane/runs/pipeline-rows.ts'
import { isFinished } from '../control-plane/runs/states.ts'
import type { PipelineEvent, ServiceContext } from '../control-plane/services.ts'
import { findRow } from '../control-plane/store.ts'
import { UnavailableError, UserError } from '../errors.ts'
import { pipelines } from '../system/pipelines.ts'

/** Polls the database, so that any server can show the run of any other. */
const LOOK_MS = 500
/** A database that restarts is back within this time, so the client need not notice. */
const PATIENCE_MS = 120_000

export async function* watchPipeline(
  { database, secrets }: ServiceContext,
  id: number,
  signal: AbortSignal,
  onAway: (error: UnavailableError) => void = () => {},
): AsyncGenerator<PipelineEvent> {
  const { kysely } = database
  let last = ''
  let awaySince: number | undefined
  while (!signal.aborted) {
    const begun = performance.now()
    const event = await look().catch(wait)
    if (event) {
      awaySince = undefined
      const text = JSON.stringify(event)
      if (text !== last) yield event
      last = text
      if (isFinished(event.pipeline.status)) return
    }
    // Reading a run with thousands of tasks takes long, and watching it must not keep the server busy.
    const pause = Math.max(LOOK_MS, 4 * (performance.now() - begun))
    await sleep(pause, undefined, { signal }).catch(() => {})
  }

  async function look(): Promise<PipelineEvent> {
    const row = await findRow(kysely, pipelines, { id })
    if (!row) throw new UserError(`There is no pipeline ${id}.`, { status: 404 })
    const [pipeline] = (await readPipelines(kysely, [row], secrets)) as [Pipeline]
    return { pipeline, tasks: await readTasks(kysely, await newestTasks(kysely, id), secrets) }
  }

  function wait(error: unknown): undefined {
    const known = database.explain(error) ?? error
    if (!(known instanceof UnavailableError)) throw known
    if (awaySince === undefined) onAway(known)
    awaySince ??= performance.now()
    if (performance.now() - awaySince > PATIENCE_MS) throw known
  }
}
