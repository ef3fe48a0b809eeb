import { expect, test } from 'vitest'
import { DEFAULT_TOKEN } from './fake-github.ts'
import { spawnFakeGithub } from './spawn.ts'

test('a fake in a process of its own serves a large world, can be steered, and ends on request', async () => {
  const fake = await spawnFakeGithub({
    tokens: [{ token: DEFAULT_TOKEN, limits: { core: 100_000 } }],
    world: {
      repositories: [{ name: 'acme/web', issues: 3000, pullRequests: 2000, workflowRuns: 5000, jobsPerRun: 4 }],
    },
  })
  const get = (path: string) =>
    fetch(fake.url + path, { headers: { 'user-agent': 'weir-tests', authorization: `Bearer ${DEFAULT_TOKEN}` } })
  try {
    expect(fake.world.totals('acme/web')).toMatchObject({ issues: 3000, pullRequests: 2000, runs: 5000, jobs: 20_000 })
    const numbers: number[] = []
    for (let page = 1; page <= 50; page++) {
      const list = (await (await get(`/repos/acme/web/issues?state=all&per_page=100&page=${page}`)).json()) as {
        number: number
      }[]
      numbers.push(...list.map((each) => each.number))
    }
    expect(new Set(numbers).size).toBe(5000)
    await fake.update({ repository: 'acme/web', add: 'issues', with: { title: 'Told from outside' } })
    expect(fake.world.totals('acme/web').issues).toBe(3001)
    const newest = (await (await get('/repos/acme/web/issues')).json()) as { title: string; created_at: string }[]
    expect(newest[0]).toMatchObject({
      title: 'Told from outside',
      created_at: fake.world.repository('acme/web').issues.get(5001)!.createdAt,
    })
    await fake.failNext('bad-gateway')
    expect((await get('/user')).status).toBe(502)
    await get('/repos/acme/web/nothing')
    const { requests, violations, memoryMegabytes } = await fake.state()
    expect(requests.byTemplate()['/repos/{owner}/{repo}/issues']).toMatchObject({ requests: 51, counted: 51 })
    expect(violations).toHaveLength(1)
    expect(memoryMegabytes).toBeLessThan(400)
  } finally {
    await fake.stop()
  }
  expect(() => process.kill(fake.pid, 0)).toThrow()
}, 30_000)
