/**
 * 10,000 pull requests with their details, commits and reviews from a GitHub that takes 50 ms for every answer, held
 * against the least possible time: requests × latency ÷ the requests that are allowed at a time.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openDatabase } from '../src/database/open.ts'
import { DEFAULT_CONCURRENCY } from '../src/plugin-kit/http/index.ts'
import { connect, NAME, prepare } from '../tests/collect/support/github.ts'
import { spawnFakeGithub } from '../tests/fake-github/spawn.ts'
import { startTestMariadb, startTestPostgres } from '../tests/support/servers.ts'
import { runLikeATask } from '../tests/support/task-process.ts'
import type { Collected } from './support/collect-worker.ts'

const ENGINES = { postgres: startTestPostgres, mariadb: startTestMariadb }
const TOKEN = 'bench'

const WORKER = join(import.meta.dirname, 'support/collect-worker.ts')

interface Measured extends Collected {
  readonly requests: number
  readonly floor: number
}

export async function run(rest: string[]): Promise<void> {
  const { values } = parseArgs({
    args: rest,
    options: {
      pulls: { type: 'string', default: '10000' },
      latency: { type: 'string', default: '50' },
      engine: { type: 'string', default: 'postgres' },
    },
  })
  const latency = Number(values.latency)
  const server = await ENGINES[values.engine as keyof typeof ENGINES]()
  const fake = await spawnFakeGithub({
    latencyMilliseconds: latency,
    tokens: [{ token: TOKEN, limits: { core: 1e6, graphql: 1e6 } }],
    world: {
      repositories: [
        {
          ...{ name: NAME, pullRequests: Number(values.pulls), commitsPerPullRequest: [1, 4] },
          ...{ reviewsPerPullRequest: [0, 3], issues: 0, workflowRuns: 0, deployments: 0, releases: 0 },
        },
      ],
    },
  })
  /** `atOnce`: how many requests the API allows to be under way; of a chain of cursors each one waits for the last. */
  async function measure(plugin: string, atOnce: number): Promise<Measured> {
    const url = await server.createDatabase()
    const database = await openDatabase(url)
    await prepare(database)
    await connect(database, { url: fake.url, token: TOKEN, githubId: fake.world.repository(NAME).id })
    await database.close()
    await fake.clearRequests()
    const collected = await runLikeATask<Collected>(WORKER, [plugin, url])
    const requests = (await fake.state()).requests.entries.length
    const floor = (requests * latency) / 1000 / atOnce
    const ratio = (collected.seconds / floor).toFixed(2)
    console.log(
      `${plugin}: ${requests} requests in ${collected.seconds.toFixed(1)} s, least possible ${floor.toFixed(1)} s (${atOnce} at a time), ratio ${ratio}; CPU ${((collected.cpuSeconds * 1000) / requests).toFixed(2)} ms a request, peak ${collected.megabytes} MB`,
    )
    return { ...collected, requests, floor }
  }
  try {
    const byRest = await measure('github', DEFAULT_CONCURRENCY)
    const byGraphql = await measure('github_graphql', 1)
    const ratio = (byRest.seconds / byRest.floor).toFixed(2)
    const chain = (byGraphql.seconds / byGraphql.floor).toFixed(2)
    const share = ((100 * byGraphql.requests) / byRest.requests).toFixed(1)
    const peak = Math.max(byRest.megabytes, byGraphql.megabytes)
    console.log(
      `collect: ${Math.round(byRest.requests / byRest.seconds)} requests/s (ratio ${ratio} to the floor, GraphQL with ${share} % of the requests in ${byGraphql.seconds.toFixed(1)} s at ${chain} times its floor, peak ${peak} MB)`,
    )
  } finally {
    await fake.stop()
    await server.stop()
  }
}
