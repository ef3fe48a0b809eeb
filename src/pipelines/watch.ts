import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../errors.ts'
import { pipelines } from '../system/pipelines.ts'
import { newestTasks, readPipelines, readTasks } from './pipeline-rows.ts'
import type { PipelineEvent, ServiceContext } from './services.ts'
import { isFinished } from './states.ts'
import { findRow } from './store.ts'

/** Asked of the database, so that any server can show a run of any other. */
const LOOK_MS = 500

export async function* watchPipeline(
  { database, secrets }: ServiceContext,
  id: number,
  signal: AbortSignal,
): AsyncGenerator<PipelineEvent> {
  const { kysely } = database
  let last = ''
  while (!signal.aborted) {
    const begun = performance.now()
    const row = await findRow(kysely, pipelines, { id })
    if (!row) throw new UserError(`There is no pipeline ${id}.`, { status: 404 })
    const [pipeline] = await readPipelines(kysely, [row], secrets)
    if (!pipeline) return
    const event = { pipeline, tasks: await readTasks(kysely, await newestTasks(kysely, id), secrets) }
    const text = JSON.stringify(event)
    if (text !== last) yield event
    last = text
    if (isFinished(pipeline.status)) return
    // Of a run with thousands of tasks a look takes long: who watches it must not keep the server busy.
    const pause = Math.max(LOOK_MS, 4 * (performance.now() - begun))
    await sleep(pause, undefined, { signal }).catch(() => {})
  }
}
