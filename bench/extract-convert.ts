/**
 * 200,000 generated pull requests, raw → tool → domain, compared with the floor of the same run: reading and parsing the
 * same raw rows by a plain cursor, and loading the same resulting rows by the engine's own bulk command.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open.ts'
import { write } from '../src/database/write.ts'
import { rawTable } from '../src/plugin-kit/raw/raw-table.ts'
import { allTables } from '../src/tables.ts'
import { missing, startTestMariadb, startTestPostgres } from '../tests/support/servers.ts'
import { runLikeATask } from '../tests/support/task-process.ts'
import { pullRequest } from './support/pull-requests.ts'

const CHUNK = 2000
export const PARAMS = '{"ConnectionId":1,"Name":"weir/bench"}'

async function fill(url: string, from: number, to: number): Promise<void> {
  const database = await openDatabase(url)
  await migrate(database, allTables)
  const table = rawTable('github_api_pull_requests')
  for (let start = from; start < to; start += CHUNK) {
    const rows = Array.from({ length: Math.min(CHUNK, to - start) }, (_, index) => {
      const record = pullRequest(start + index)
      return table.row({
        id: null as never,
        params: PARAMS,
        data: Buffer.from(JSON.stringify(record)),
        url: '',
        // As the collector stores it.
        input_key: '',
        record_key: String(record.id),
      })
    })
    await write(database, rows)
  }
  await database.close()
}

interface Measured {
  readonly seconds: number
  readonly megabytes: number
}
const WORKER = join(import.meta.dirname, 'support/extract-convert-worker.ts')
const measure = (part: 'product' | 'floor', url: string) => runLikeATask<Measured>(WORKER, [part, url])

export async function run(rest: string[]): Promise<void> {
  const { values } = parseArgs({
    args: rest,
    options: { rows: { type: 'string', default: '200000' }, engine: { type: 'string' } },
  })
  const rows = Number(values.rows)
  const lines: string[] = []
  for (const [engine, start] of [
    ['postgres', startTestPostgres],
    ['mariadb', startTestMariadb],
  ] as const) {
    if (values.engine && values.engine !== engine) continue
    const reason = engine === 'mariadb' && missing.mysql()
    if (reason) {
      console.log(`${engine} is not measured: ${reason}`)
      continue
    }
    const server = await start()
    try {
      const half = await server.createDatabase()
      await fill(half, 0, rows / 2)
      const first = await measure('product', half)
      const whole = await server.createDatabase()
      await fill(whole, 0, rows)
      const product = await measure('product', whole)
      const floor = await measure('floor', whole)
      const ratio = (product.seconds / floor.seconds).toFixed(2)
      const growth = (product.seconds / first.seconds).toFixed(2)
      lines.push(
        `extract-convert ${engine}: ${Math.round(rows / product.seconds)} rows/s (ratio ${ratio} to the floor, twice the rows take ${growth} times as long, peak ${product.megabytes} MB)`,
      )
      console.log(`${engine}: product ${product.seconds.toFixed(1)} s, floor ${floor.seconds.toFixed(1)} s`)
    } finally {
      await server.stop()
    }
  }
  for (const line of lines) console.log(line)
}
