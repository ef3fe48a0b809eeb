/** Runs one task in a separate process, for an operation that kills it. */

import { openDatabase } from '../../../src/database/open.ts'
import type { Plugin } from '../../../src/plugin-kit/spec/plugin.ts'
import { clocks } from './clocks.ts'
import { runTask } from './run-task.ts'

export interface ChildTask {
  readonly url: string
  /** The address of the module that exports the plugin. `plugin` is the name of the export. */
  readonly module: string
  readonly plugin: string
  readonly options: Readonly<Record<string, unknown>>
  readonly timeAfter: string | null
  /** How far Weir's clock is ahead. */
  readonly clock: number
}

const { url, module, plugin, options, timeAfter, clock }: ChildTask = JSON.parse(process.argv[2] as string)
clocks.start()
clocks.setOurs(clock)
const exported: Record<string, Plugin> = await import(module)
const database = await openDatabase(url)
await runTask(database, Object.values(exported).find(({ name }) => name === plugin) as Plugin, options, {
  timeAfter: timeAfter === null ? null : new Date(timeAfter),
})
await database.close()
