/** Runs the API in a separate process, so that a busy server is noticed: `node server-process.ts DATABASE OTHER_SERVER`. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from '../../../src/api/server.ts'
import { readConfig } from '../../../src/config/config.ts'
import { openDatabase } from '../../../src/database/open.ts'
import { createLog } from '../../../src/log.ts'
import { plugins } from '../../../src/plugins/index.ts'
import { createSecrets } from '../../../src/secrets/secrets.ts'
import { createControlPlane } from '../../../src/start/create-control-plane.ts'
import { prepareDatabase } from '../../../src/start/prepare-database.ts'

process.env.TZ = 'UTC'
const [, , url = '', stranger = ''] = process.argv

/** No request leaves this machine, even if it omits the endpoint. */
const local = plugins.map((plugin) => {
  if (!plugin.source) return plugin
  const { connection } = plugin.source
  const endpoint = { ...connection.fields.endpoint, kind: 'url', label: 'Endpoint', default: stranger } as const
  const fields = { ...connection.fields, endpoint }
  return { ...plugin, source: { ...plugin.source, connection: { ...connection, endpoint: stranger, fields } } }
})

const database = await openDatabase(url)
await prepareDatabase(database)
const dataFolder = mkdtempSync(join(tmpdir(), 'weir-hostile-'))
const log = createLog(process.env.LOGGING_LEVEL ?? 'error')
const secrets = createSecrets('a key that is only used in tests')
const control = createControlPlane({ database, plugins: local, secrets, dataFolder, log })
const config = readConfig({ DATA_FOLDER: dataFolder, REQUESTS_PER_MINUTE: '0' })
const server = await createServer({ config, control, log })
const address = await server.listen({ host: '127.0.0.1', port: 0 })
process.send?.({ address, laws: server.laws })

// Measured in processor time: on a busy machine the clock runs while other processes run.
let before = process.threadCpuUsage()
let longest = 0
setInterval(() => {
  const { user, system } = process.threadCpuUsage(before)
  before = process.threadCpuUsage()
  longest = Math.max(longest, (user + system) / 1000)
}, 10)
/** Answers each message with the longest turn of the event loop since the last message, in milliseconds. */
process.on('message', () => {
  process.send?.(longest)
  longest = 0
})
process.once('disconnect', () => process.exit())
