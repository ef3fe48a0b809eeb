/** Collects, and kills itself at the n-th statement that it sends or git process that it starts. */
import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { openDatabase } from '../../../src/database/open.ts'

const [url = '', options = '{}', step = '1'] = process.argv.slice(2)
let left = Number(step)
function count(): void {
  left--
  if (left === 0) process.kill(process.pid, 'SIGKILL')
}
const { spawn } = childProcess
childProcess.spawn = ((...parameters: Parameters<typeof spawn>) => {
  const child = spawn(...parameters)
  count()
  return child
}) as typeof spawn
syncBuiltinESMExports()

const database = await openDatabase(url)
const counting = {
  ...database,
  sendRows: async (...parameters: Parameters<typeof database.sendRows>) => {
    count()
    await database.sendRows(...parameters)
    count()
  },
}
const { plugins } = await import('../../../src/plugins/index.ts')
for (const subtask of plugins.find(({ name }) => name === 'gitextractor')?.subtasks ?? []) {
  await subtask.run({
    database: counting,
    options: JSON.parse(options),
    fullSync: Number(step) % 3 === 0,
    signal: new AbortController().signal,
    progress: () => {},
  })
}
await database.close()
