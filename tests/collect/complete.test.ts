/** With one fault in fifty requests everything still arrives, and REST and GraphQL give the same rows. */
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type SpawnedFakeGithub, spawnFakeGithub } from '../fake-github/spawn.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { MOST_MEGABYTES, runLikeATask } from '../support/task-process.ts'
import { connect, countsOf, differences, domainRows, emptyGithub, NAME, plugins } from './support/github.ts'
import type { ChildReport } from './support/run-child.ts'

/** FULL_SIZE=true uses the repository of the issue, which takes several minutes. */
const isFull = process.env.FULL_SIZE === 'true'
const REPOSITORY = isFull
  ? { name: NAME, pullRequests: 2000, issues: 3000, workflowRuns: 5000, jobsPerRun: 4, commits: 500, deployments: 300 }
  : { name: NAME, pullRequests: 40, issues: 150, workflowRuns: 60, commits: 20 }

describeOneWithTables('a run with one fault in fifty requests', (test) => {
  let fake: SpawnedFakeGithub
  afterEach(() => fake?.stop())

  it('ends complete, by REST as by GraphQL', { timeout: 3_600_000 }, async () => {
    fake = await spawnFakeGithub({
      world: { users: isFull ? 200 : 12, repositories: [REPOSITORY] },
      tokens: [{ token: 'one', limits: { core: 1e6, graphql: 1e6 } }],
      faults: {
        every: 50,
        kinds: [
          ...(['too-many-requests', 'bad-gateway', 'secondary-limit', 'cut-off', 'malformed-json'] as const),
          ...(['graphql-timeout', 'too-many-nodes'] as const),
        ],
        retryAfterSeconds: 0,
      },
    })
    const repository = fake.world.repository(NAME)
    const found: Record<string, string[]>[] = []
    for (const plugin of plugins) {
      await emptyGithub(test.database)
      await fake.clearRequests()
      await connect(test.database, { url: fake.url, token: 'one', githubId: repository.id })
      const started = performance.now()
      const child = join(import.meta.dirname, 'support/run-child.ts')
      const { quarantined, megabytes } = await runLikeATask<ChildReport>(child, [test.url, plugin.name])
      const seconds = (performance.now() - started) / 1000
      expect(quarantined).toEqual([])
      expect(megabytes).toBeLessThan(MOST_MEGABYTES)
      expect(await differences(test.database, repository)).toEqual({})
      const { requests, violations } = await fake.state()
      expect(violations).toEqual([])
      const { faults, requests: sent } = requests.counts()
      expect(faults).toBeGreaterThan(0)
      if (isFull)
        console.log(
          `${test.engine} ${plugin.name}: ${sent} requests, ${faults} faults, ${seconds.toFixed(0)} s, peak ${megabytes} MB`,
        )
      found.push(await domainRows(test.database))
    }
    const [rest = {}, graphql = {}] = found
    expect(countsOf(graphql)).toEqual(countsOf(rest))
    expect(graphql).toEqual(rest)
  })
})
