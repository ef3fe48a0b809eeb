/** Collects from a Jenkins and prints a line for every page, for a test that kills it on the way. */
import { appendFileSync, readFileSync } from 'node:fs'
import { openDatabase } from '../../../src/database/open.ts'
import { definePlugin } from '../../../src/plugin-kit/define/define-plugin.ts'
import type { PluginSpec } from '../../../src/plugin-kit/spec/plugin.ts'
import { jenkins } from '../../../src/plugins/jenkins/plugin.ts'
import { peakMegabytes } from '../../support/peak-memory.ts'
import { runJenkins } from './jenkins.ts'

/** `journal` names the finished subtasks. As in a pipeline, they do not run again. */
const [url = '', scope = '', concurrency = '1', journal = ''] = process.argv.slice(2)
const database = await openDatabase(url)
const spec = jenkins.source as PluginSpec
const plugin = definePlugin({
  ...spec,
  connection: { ...spec.connection, limits: { concurrency: Number(concurrency) } },
})
const finished = readFileSync(journal, 'utf8').split('\n')
for (const { name, step } of plugin.subtasks) {
  if (step === 'convert' || finished.includes(name)) continue
  await runJenkins(database, scope, {
    plugin,
    only: (subtask) => subtask.name === name,
    progress: ({ done }) => console.log(name, done),
  })
  appendFileSync(journal, `${name}\n`)
}
await database.close()
console.log('peak', peakMegabytes())
