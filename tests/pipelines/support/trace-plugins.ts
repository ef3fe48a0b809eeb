/** A plugin that records every step together with the attempt that took it. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { bigint, defineTable, generated, integer, key, string } from '../../../src/database/table.ts'
import { write } from '../../../src/database/write.ts'
import type { Plugin } from '../../../src/plugin-kit/spec/plugin.ts'
import type { Subtask, TaskRun } from '../../../src/plugin-kit/spec/subtask.ts'

export const steps = defineTable('test_steps', {
  id: generated(key(bigint())),
  place: string(100),
  subtask: string(100),
  number: integer(),
  /** A task that is taken over begins a new attempt, whichever process runs it. */
  attempt: string(100),
})
export const STEPS = 3

const subtask = (name: string): Subtask => ({
  name,
  step: 'calculate',
  reads: [],
  writes: [],
  domainTypes: [],
  isDefault: true,
  async run({ options, database, signal }: TaskRun) {
    const { place, pauseMs } = options as { place: string; pauseMs: number }
    const attempt = `${process.pid} ${randomUUID()}`
    for (let number = 1; number <= STEPS; number++) {
      signal.throwIfAborted()
      await write(database, [steps.row({ place, subtask: name, number, attempt } as any)])
      await sleep(pauseMs, undefined, { signal })
    }
    return { records: STEPS, rows: STEPS, quarantined: 0 }
  },
})

export const tracing: Plugin = {
  name: 'tracing',
  title: 'Tracing',
  tables: [steps],
  subtasks: ['one', 'two'].map(subtask),
}
