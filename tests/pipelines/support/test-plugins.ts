/** Plugins that follow the options of a test. Worker threads load this file too. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { defineTable, integer, key, string } from '../../../src/database/table.ts'
import { write } from '../../../src/database/write.ts'
import { UserError } from '../../../src/errors.ts'
import type { Plugin } from '../../../src/plugin-kit/spec/plugin.ts'
import type { Subtask, TaskRun } from '../../../src/plugin-kit/spec/subtask.ts'

export const marks = defineTable('test_marks', {
  place: key(string(100)),
  subtask: key(string(100)),
  number: key(integer()),
})
/** How often each subtask ran to its end. */
export const runs = defineTable('test_runs', { place: key(string(100)), subtask: key(string(100)), times: integer() })

export interface TestOptions {
  readonly place: string
  /** The name that a failure mentions. */
  readonly fullName?: string
  readonly count?: number
  readonly pauseMs?: number
  /** Fails in this subtask, as long as test_runs has the row `place` for 'broken', or forever. */
  readonly failIn?: string
  /** Computes without ever checking its signal. */
  readonly isDeaf?: boolean
  readonly requests?: number
  readonly secret?: string
  /** Holds the lease of this name, so that no other task with it runs at the same time. */
  readonly lease?: string
}

const step = (name: string): Subtask => ({
  name,
  step: 'calculate',
  reads: [],
  writes: [],
  domainTypes: [],
  isDefault: name !== 'extraPaint',
  async run(run: TaskRun) {
    const { place, count = 3, pauseMs = 0, failIn, isDeaf, requests = 0, secret } = run.options as TestOptions
    const { database, signal, progress } = run
    if (secret) run.log?.(`the secret is ${run.decrypt?.(secret)}`)
    for (let number = 1; number <= count; number++) {
      signal.throwIfAborted()
      if (isDeaf) for (const end = Date.now() + 60_000; Date.now() < end; );
      if (failIn === name) throw new UserError(`${place} failed in ${name}`)
      await write(database, [marks.row({ place, subtask: name, number })])
      progress({ done: number, expected: count, requests: Math.round((requests * number) / count) })
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal })
    }
    const before = await sql<{ times: number }>`select times from test_runs
      where place = ${place} and subtask = ${name}`.execute(database.kysely)
    await write(database, [runs.row({ place, subtask: name, times: (before.rows[0]?.times ?? 0) + 1 })])
    return { records: count, rows: count, quarantined: 0 }
  },
})

const plugin = (name: string): Plugin => ({
  name,
  title: name,
  tables: [],
  leases: ({ lease }) => (lease ? [lease] : []),
  subtasks: ['collectPaint', 'extractPaint', 'convertPaint', 'extraPaint'].map(step),
})

export const plugins: readonly Plugin[] = [plugin('paint'), plugin('brush')]
