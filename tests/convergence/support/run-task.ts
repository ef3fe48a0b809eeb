import type { Database } from '../../../src/database/database.ts'
import type { Plugin } from '../../../src/plugin-kit/spec/plugin.ts'

export interface TaskOptions {
  readonly fullSync?: boolean
  readonly signal?: AbortSignal
  /** For connections whose secrets are encrypted. */
  readonly decrypt?: (text: string) => string
}

/** Subtask after subtask, as a task does. */
export async function runTask(
  database: Database,
  plugin: Plugin,
  options: Readonly<Record<string, unknown>>,
  { fullSync = false, signal = new AbortController().signal, decrypt }: TaskOptions = {},
): Promise<void> {
  for (const subtask of plugin.subtasks.filter(({ isDefault }) => isDefault)) {
    signal.throwIfAborted()
    await subtask.run({ database, options, fullSync, signal, progress: () => {}, ...(decrypt && { decrypt }) })
  }
}
