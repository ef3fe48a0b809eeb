/** Collects from a GitHub and prints a line for every page, for a test that kills it somewhere on the way. */
import { appendFileSync, readFileSync } from 'node:fs'
import { openDatabase } from '../../../src/database/open.ts'
import { githubAtOnce, runGithub } from './github.ts'

/** `journal` names the subtasks that are finished; as in a pipeline, they are not run again. */
const [url = '', concurrency = '1', journal = ''] = process.argv.slice(2)
const database = await openDatabase(url)
const plugin = githubAtOnce(Number(concurrency))
const finished = readFileSync(journal, 'utf8').split('\n')
for (const { name, step } of plugin.subtasks) {
  // Statistics are asked for at the same address as the commits of deployments.
  if (step === 'convert' || name === 'Collect Commit Stats' || finished.includes(name)) continue
  await runGithub(database, plugin, {
    only: (subtask) => subtask.name === name,
    progress: ({ done }) => console.log(name, done),
  })
  appendFileSync(journal, `${name}\n`)
}
await database.close()
console.log('peak', Math.round(process.resourceUsage().maxRSS / 1024))
