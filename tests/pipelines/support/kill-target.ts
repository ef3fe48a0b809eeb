/** A server that runs the queue and ends when it is empty, for a test that kills it on the way. */
import { openDatabase } from '../../../src/database/open.ts'
import { inProcess, testControl, testRunner, until } from './test-control.ts'

const [url = '', dataFolder = '', maxParallel = '0'] = process.argv.slice(2)
const database = await openDatabase(url)
const control = testControl(database, { dataFolder })
console.log('begins')
const runner = await testRunner(control, inProcess(control), { maxParallel: Number(maxParallel) })
await until(async () => (await control.services.pipelines.list({ pending: true })).count === 0)
await runner.stop()
await database.close()
