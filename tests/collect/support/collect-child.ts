/** Collects from a code host and prints a line for every page, for a test that kills it on the way. */
import { appendFileSync, readFileSync } from 'node:fs'
import { openDatabase } from '../../../src/database/open.ts'
import { peakMegabytes } from '../../support/peak-memory.ts'
import { CODE_HOSTS, type CodeHostName } from './code-hosts.ts'

/** `journal` names the finished subtasks. As in a pipeline, they do not run again. */
const [host = 'github', url = '', concurrency = '1', journal = ''] = process.argv.slice(2)
const { atOnce, run, alike } = CODE_HOSTS[host as CodeHostName]
const database = await openDatabase(url)
const plugin = atOnce(Number(concurrency))
const finished = readFileSync(journal, 'utf8').split('\n')
for (const { name, step } of plugin.subtasks) {
  if (step === 'convert' || alike.includes(name) || finished.includes(name)) continue
  await run(database, plugin, {
    only: (subtask) => subtask.name === name,
    progress: ({ done }) => console.log(name, done),
  })
  appendFileSync(journal, `${name}\n`)
}
await database.close()
console.log('peak', peakMegabytes())
