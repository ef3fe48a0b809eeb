import type { Database } from '../../../src/database/database.ts'
import type { Plugin } from '../../../src/plugin-kit/subtask.ts'

export interface TaskOptions {
  readonly fullSync?: boolean
  readonly signal?: AbortSignal
}

/** Subtask after subtask, as a task does. */
export async function runTask(
  database: Database,
  plugin: Plugin,
  options: Readonly<Record<string, unknown>>,
  { fullSync = false, signal = new AbortController().signal }: TaskOptions = {},
): Promise<void> {
  for (const subtask of plugin.subtasks.filter(({ isDefault }) => isDefault)) {
    signal.throwIfAborted()
    await subtask.run({ database, options, fullSync, signal, progress: () => {} })
  }
}
