import type { Database } from '../../src/database/database.ts'
import type { Plugin } from '../../src/plugin-kit/spec/plugin.ts'
import type { Progress, SubtaskResult } from '../../src/plugin-kit/spec/subtask.ts'

interface Options {
  readonly fullSync?: boolean
  readonly timeAfter?: Date
  readonly signal?: AbortSignal
  readonly redrive?: boolean
  readonly progress?: (progress: Progress) => void
}

/** Runs one subtask as a pipeline would. */
export function runSubtask(
  database: Database,
  plugin: Plugin,
  name: string,
  options: Record<string, unknown>,
  {
    fullSync = false,
    signal = new AbortController().signal,
    redrive = false,
    progress = () => {},
    timeAfter,
  }: Options = {},
): Promise<SubtaskResult> {
  const subtask = plugin.subtasks.find((each) => each.name === name)
  const run = redrive ? subtask?.redrive : subtask?.run
  if (!run) throw new Error(`${plugin.name} cannot run ${name}`)
  return run({ database, options, fullSync, signal, progress, ...(timeAfter && { timeAfter }) })
}
