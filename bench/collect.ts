/**
 * Pull or merge requests with everything that belongs to each, from a code host that takes 50 ms for every answer, compared
 * with the least possible time: requests × latency ÷ the requests that are allowed at a time.
 *
 *   npm run bench -- collect                    10,000 pull requests of GitHub, over REST and over GraphQL
 *   npm run bench -- collect --source gitlab    50,000 merge requests of GitLab; `--pulls` sets another number
 *   npm run bench -- collect --source jenkins   100,000 builds of Jenkins; `--builds` sets another number
 *   npm run bench -- collect --source bamboo    one of the sources of support/vendors.ts; `--records` sets the number of each kind
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open.ts'
import { UserError } from '../src/errors.ts'
import { DEFAULT_CONCURRENCY } from '../src/plugin-kit/http/index.ts'
import { allTables } from '../src/tables.ts'
import { CODE_HOST_NAMES, CODE_HOSTS, type CodeHostName } from '../tests/collect/support/code-hosts.ts'
import { startTestMariadb, startTestPostgres } from '../tests/support/servers.ts'
import { runLikeATask } from '../tests/support/task-process.ts'
import { collectJenkins } from './support/collect-jenkins.ts'
import { collectVendor } from './support/collect-vendor.ts'
import type { Collected } from './support/collect-worker.ts'
import { VENDOR_NAMES, vendorNamed } from './support/vendors.ts'

const ENGINES = { postgres: startTestPostgres, mariadb: startTestMariadb }
const CHANGES: Record<CodeHostName, string> = { github: '10000', gitlab: '50000' }

const WORKER = join(import.meta.dirname, 'support/collect-worker.ts')

interface Measured extends Collected {
  readonly requests: number
  readonly floor: number
}

function hostOf(source: string): CodeHostName {
  const host = CODE_HOST_NAMES.find((name) => name === source)
  if (host) return host
  const known = [...CODE_HOST_NAMES, 'jenkins', ...VENDOR_NAMES]
  throw new UserError(`there is no benchmark for the source ${source}: choose one of ${known.join(', ')}`)
}

export async function run(rest: string[]): Promise<void> {
  const { values } = parseArgs({
    args: rest,
    options: {
      source: { type: 'string', default: 'github' },
      pulls: { type: 'string' },
      latency: { type: 'string', default: '50' },
      engine: { type: 'string', default: 'postgres' },
      builds: { type: 'string', default: '100000' },
      records: { type: 'string' },
    },
  })
  const latency = Number(values.latency)
  const vendor = vendorNamed(values.source)
  const host = vendor || values.source === 'jenkins' ? undefined : hostOf(values.source)
  const server = await ENGINES[values.engine as keyof typeof ENGINES]()
  if (!host) {
    const url = await server.createDatabase()
    const records = Number(values.records ?? vendor?.records)
    const collecting = vendor
      ? collectVendor(vendor, { records, latency, url })
      : collectJenkins({ builds: Number(values.builds), latency, url })
    await collecting.finally(() => server.stop())
    return
  }
  const codeHost = host
  const size = { changes: Number(values.pulls ?? CHANGES[host]) }
  const fake = await CODE_HOSTS[host].spawn(size, { latencyMilliseconds: latency })
  /** `atOnce`: the number of requests that the API allows to be under way. In a chain of cursors each one waits for the last. */
  async function measure(plugin: string, atOnce: number): Promise<Measured> {
    const url = await server.createDatabase()
    const database = await openDatabase(url)
    await migrate(database, allTables)
    await fake.connect(database)
    await database.close()
    await fake.clearRequests()
    const collected = await runLikeATask<Collected>(WORKER, [codeHost, plugin, url])
    const requests = (await fake.state()).requests.entries.length
    const floor = (requests * latency) / 1000 / atOnce
    const ratio = (collected.seconds / floor).toFixed(2)
    console.log(
      `${plugin}: ${requests} requests in ${collected.seconds.toFixed(1)} s, least possible ${floor.toFixed(1)} s (${atOnce} at a time), ratio ${ratio}; CPU ${((collected.cpuSeconds * 1000) / requests).toFixed(2)} ms a request, peak ${collected.megabytes} MB`,
    )
    return { ...collected, requests, floor }
  }
  try {
    const byRest = await measure(host, DEFAULT_CONCURRENCY)
    const chain = host === 'github' ? await measure('github_graphql', 1) : undefined
    const ratio = (byRest.seconds / byRest.floor).toFixed(2)
    const peak = Math.max(byRest.megabytes, chain?.megabytes ?? 0)
    console.log(
      `collect: ${Math.round(byRest.requests / byRest.seconds)} requests/s (ratio ${ratio} to the floor, ${chain ? graphqlText(chain, byRest) : ''}peak ${peak} MB)`,
    )
  } finally {
    await fake.stop()
    await server.stop()
  }
}

function graphqlText(chain: Measured, { requests }: Measured): string {
  const share = ((100 * chain.requests) / requests).toFixed(1)
  const ratio = (chain.seconds / chain.floor).toFixed(2)
  return `GraphQL with ${share} % of the requests in ${chain.seconds.toFixed(1)} s at ${ratio} times its floor, `
}
