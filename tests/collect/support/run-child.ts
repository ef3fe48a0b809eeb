/** Runs every subtask of a plugin once. Prints the subtasks that put records into quarantine, and its peak memory, as JSON. */
import { openDatabase } from '../../../src/database/open.ts'
import { peakMegabytes } from '../../support/peak-memory.ts'
import { plugins, runGithub } from './github.ts'

export interface ChildReport {
  /** Subtasks that put records into quarantine. */
  readonly quarantined: readonly string[]
  readonly megabytes: number
}

const [url = '', name] = process.argv.slice(2)
const plugin = plugins.find((each) => each.name === name)
if (!plugin) throw new Error(`there is no plugin ${name}`)
const database = await openDatabase(url)
const results = await runGithub(database, plugin, { only: () => true })
await database.close()
const quarantined = Object.entries(results).flatMap(([subtask, result]) => (result.quarantined > 0 ? subtask : []))
const megabytes = peakMegabytes()
console.log(JSON.stringify({ quarantined, megabytes } satisfies ChildReport))
