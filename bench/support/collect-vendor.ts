/** Collects everything of one scope of a source, from a fake that takes 50 ms for every answer; then once more, with nothing new. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { write } from '../../src/database/write.ts'
import { DEFAULT_CONCURRENCY } from '../../src/plugin-kit/http/index.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { allTables } from '../../src/tables.ts'
import { runLikeATask } from '../../tests/support/task-process.ts'
import { leastPossible } from './chains.ts'
import type { Collected } from './collect-worker.ts'
import { type AskedFor, plainRequests } from './plain-requests.ts'
import type { VendorBench } from './vendors.ts'

const FAKE = join(import.meta.dirname, 'vendor-fake.ts')
const WORKER = join(import.meta.dirname, 'vendor-worker.ts')

export interface VendorCollected extends Collected {
  /** Requests that had to wait for the one before. */
  readonly chained: number
}

export interface VendorRun {
  readonly records: number
  readonly latency: number
  /** An empty database. */
  readonly url: string
}

async function prepare(url: string, { vendor }: VendorBench, connection: Readonly<Record<string, unknown>>) {
  const [{ source }] = vendor.interfaces
  if (!source) throw new Error(`${vendor.name} is not a data source`)
  const database = await openDatabase(url)
  await migrate(database, allTables)
  await write(database, [settingsTables(source).connections.row({ id: 1, name: 'bench', ...connection })])
  await write(database, [source.scope.table.row({ connection_id: 1, ...vendor.scopes[0]?.row })])
  await database.close()
}

export async function collectVendor(bench: VendorBench, { records, latency, url }: VendorRun): Promise<void> {
  const { name } = bench.vendor
  const fake = spawn(process.execPath, [FAKE, name, String(records), String(latency)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(fake.stdout)[Symbol.asyncIterator]()
  const told = async () => JSON.parse((await lines.next()).value as string)
  try {
    await prepare(url, bench, (await told()).connection)
    const measure = async (title: string) => {
      const collected = await runLikeATask<VendorCollected>(WORKER, [name, url])
      fake.stdin.write('\n')
      const asked: readonly AskedFor[] = (await told()).requests
      const requests = asked.length
      const { seconds, cpuSeconds, megabytes, chained } = collected
      const floor = leastPossible(requests, chained, latency, DEFAULT_CONCURRENCY)
      const cpu = ((cpuSeconds * 1000) / requests).toFixed(2)
      console.log(
        `${name}, ${title}: ${requests} requests in ${seconds.toFixed(1)} s, least possible ${floor.toFixed(1)} s (${chained} one after another), CPU ${cpu} ms a request, peak ${megabytes} MB`,
      )
      return { ...collected, asked, requests, ratio: seconds / floor }
    }
    const first = await measure('everything')
    const plain = await plainRequests(first.asked, DEFAULT_CONCURRENCY)
    fake.stdin.write('\n')
    await told()
    const again = await measure('nothing new')
    console.log(
      `collect: ${Math.round(first.requests / first.seconds)} requests/s (ratio ${first.ratio.toFixed(2)} to the floor, ${(first.seconds / plain).toFixed(2)} to plain requests in the same minute, ${records} records of ${name}, ${again.requests} requests for an unchanged second run, peak ${first.megabytes} MB)`,
    )
  } finally {
    fake.stdin.end()
    await once(fake, 'exit')
  }
}
