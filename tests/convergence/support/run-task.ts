import type { Database } from '../../../src/database/database.ts'
import type { Plugin } from '../../../src/plugin-kit/spec/plugin.ts'

export interface TaskOptions {
  readonly fullSync?: boolean
  readonly signal?: AbortSignal
  /** The start date. Null means from the very beginning. */
  readonly timeAfter?: Date | null
  /** Needed for connections whose secrets are encrypted. */
  readonly decrypt?: (text: string) => string
}

/** Runs one subtask after the other, as a task does. */
export async function runTask(
  database: Database,
  plugin: Plugin,
  options: Readonly<Record<string, unknown>>,
  { fullSync = false, signal = new AbortController().signal, timeAfter, decrypt }: TaskOptions = {},
): Promise<void> {
  for (const subtask of plugin.subtasks.filter(({ isDefault }) => isDefault)) {
    signal.throwIfAborted()
    const run = { database, options, fullSync, signal, timeAfter, progress: () => {} }
    await subtask.run({ ...run, ...(decrypt && { decrypt }) })
  }
}
