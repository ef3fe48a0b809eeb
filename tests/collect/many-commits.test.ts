import { expect, it } from 'vitest'
import { github } from '../../src/plugins/github/plugin.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { SMALL, useFake } from './support/fake.ts'
import { differences, gapsOf, NAME, plugins, runGithub } from './support/github.ts'

describeOneWithTables('a pull request of more commits than GitHub lists', (test) => {
  const start = useFake(test)

  it.each(plugins)('has all of them by $name, and those of a later push', async (plugin) => {
    const fake = await start({ ...SMALL, issues: 0, pullRequests: 2, commitsPerPullRequest: 262 })
    const only = ({ name, isDefault }: { name: string; isDefault: boolean }) =>
      isDefault && !/Release|Job|Runs/.test(name)
    const stored = async () => (await differences(test.database, fake.world.repository(NAME))).pullCommits
    await runGithub(test.database, plugin, { only })
    expect(await stored()).toBeUndefined()
    const [pull] = [...fake.world.repository(NAME).pullRequests]
    fake.update({ repository: NAME, forcePush: pull!.number })
    await runGithub(test.database, plugin, { only })
    expect(await stored()).toBeUndefined()
  })

  it('keeps those that are listed where GitHub has no comparison, and tells of the gap', async () => {
    const fake = await start({ ...SMALL, issues: 0, pullRequests: 2, commitsPerPullRequest: 262 })
    const only = ({ name, isDefault }: { name: string; isDefault: boolean }) =>
      isDefault && /Pull Requests|PR (Details|Commits)|Long PR/.test(name)
    const [pull] = [...fake.world.repository(NAME).pullRequests]
    const commitsOf = async (table: string, id: unknown) =>
      (await test.database.kysely.selectFrom(table).select('commit_sha').where('pull_request_id', '=', id).execute())
        .length
    const stored = async () => [
      await commitsOf('_tool_github_pull_request_commits', pull!.id),
      await commitsOf('pull_request_commits', `github:GithubPullRequest:1:${pull!.id}`),
    ]
    fake.failNext('gone', { path: `...${pull!.headSha}`, status: 404, times: 2 })
    await runGithub(test.database, github, { only })
    expect(await stored()).toEqual([250, 250])
    const told = (await gapsOf(test.database)).map(({ subtask, kind, status, input }) => ({
      subtask,
      kind,
      status: Number(status),
      number: input.Number,
    }))
    expect(told).toEqual([{ subtask: 'Collect Long PR Commits', kind: 'lost', status: 404, number: pull!.number }])
    // The comparison still fails, so the gap and the 250 commits remain.
    await runGithub(test.database, github, { only })
    expect(await stored()).toEqual([250, 250])
    expect(await gapsOf(test.database)).toHaveLength(1)
    // The next run asks again and receives the commits.
    await runGithub(test.database, github, { only })
    expect(await stored()).toEqual([262, 262])
    expect(await gapsOf(test.database)).toEqual([])
  })
})
