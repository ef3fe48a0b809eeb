/** One of several servers of a database, for a test that stops, kills and freezes it. */
import { openDatabase } from '../../../src/database/open.ts'
import { inProcess, testControl, testRunner } from './test-control.ts'
import { tracing } from './trace-plugins.ts'

const [url = '', dataFolder = '', leaseMs = ''] = process.argv.slice(2)
const database = await openDatabase(url)
const control = testControl(database, { dataFolder, plugins: [tracing] })
const runner = await testRunner(control, inProcess(control), { leaseMs: Number(leaseMs) })
process.once('SIGTERM', async () => {
  await runner.stop()
  await database.close()
})
console.log('ready')
