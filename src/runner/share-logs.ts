/** Copies the logs of runs from this process to the database while other servers or workers exist that may continue or show them. */
import type { ServiceContext } from '../control-plane/services.ts'
import { findRow } from '../control-plane/store.ts'
import { tasks } from '../system/pipelines.ts'
import { servers } from '../system/runs.ts'
import { repeat } from './repeat.ts'
import type { TaskDispatch, TaskOutcome } from './task-dispatch.ts'
import { logPath } from './task-log.ts'
import { type LogName, placeOf, storedUntil, storePiece } from './workers/stored-logs.ts'

interface Shared {
  readonly name: LogName
  file: string | undefined
  from: number | undefined
}
export interface LogSharing {
  /** Announces a log that is being written. Returns the function to call when it has ended; `isLast` means that nobody continues it. */
  begin(name: LogName): (isLast: boolean) => Promise<void>
  /** Wraps threads or workers so that the logs of their tasks are shared. */
  around(dispatch: TaskDispatch): TaskDispatch
  /** Tries once more to store the logs that are left. */
  stop(): Promise<void>
}

const EVERY_MS = 2000
const isLast = ({ status }: TaskOutcome) => status === 'TASK_COMPLETED' || status === 'TASK_FAILED'

/** With `isAlways` logs are stored even without other servers: nobody reads the files of a worker. */
export function shareLogs(
  { database, dataFolder }: Pick<ServiceContext, 'database' | 'dataFolder'>,
  { isAlways }: { readonly isAlways: boolean },
): LogSharing {
  const { kysely } = database
  const place = placeOf(dataFolder)
  const open = new Set<Shared>()
  /** Logs that have ended but could not be stored, because the database was unreachable. */
  const left = new Set<Shared>()

  async function hasOthers(): Promise<boolean> {
    if (isAlways) return true
    const rows = await kysely.selectFrom(servers.name).select('holder').where('role', '!=', '').limit(2).execute()
    return rows.length > 1
  }

  async function store(shared: Shared, isEnd: boolean): Promise<void> {
    const { name } = shared
    shared.file ??= await fileOf(name)
    if (shared.file === undefined) return
    shared.from ??= (await storedUntil(kysely, name, place)) ?? 0
    shared.from = await storePiece(kysely, name, { file: shared.file, place, from: shared.from, isEnd })
  }

  async function fileOf({ pipelineId, taskId }: LogName): Promise<string | undefined> {
    const task = taskId === 0 ? undefined : await findRow(kysely, tasks, { id: taskId })
    return taskId !== 0 && !task ? undefined : logPath(dataFolder, pipelineId, task)
  }

  async function storeAll(): Promise<void> {
    for (const shared of left) {
      await store(shared, true)
      left.delete(shared)
    }
    if (open.size === 0 || !(await hasOthers())) return
    for (const shared of open) if (open.has(shared)) await inTurn(() => store(shared, false))
  }

  /** Stores pieces one after another, so that none is stored twice. */
  let last: Promise<unknown> = Promise.resolve()
  function inTurn(act: () => Promise<void>): Promise<void> {
    const own = last.then(act)
    last = own.catch(() => {})
    return own
  }

  // Errors are ignored: the piece is stored later, and a run does not wait for it.
  const looking = repeat(EVERY_MS, storeAll, () => {})

  const begin: LogSharing['begin'] = (name) => {
    const shared: Shared = { name, file: undefined, from: undefined }
    open.add(shared)
    return async (hasEnded) => {
      open.delete(shared)
      try {
        const isNeeded = !hasEnded || shared.from !== undefined || (await hasOthers())
        if (isNeeded || (await storedUntil(kysely, name, place)) !== undefined) await inTurn(() => store(shared, true))
      } catch {
        left.add(shared)
      }
    }
  }

  return {
    begin,
    around: (dispatch) => ({
      ...dispatch,
      async run(task, signal, hasPlace) {
        const end = begin({ pipelineId: task.pipelineId, taskId: task.id })
        const outcome = await dispatch.run(task, signal, hasPlace)
        await end(outcome !== undefined && isLast(outcome))
        return outcome
      },
    }),
    async stop() {
      await looking.stop()
      for (const shared of left) await store(shared, true).catch(() => {})
    },
  }
}
