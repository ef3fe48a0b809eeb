import { expect, it } from 'vitest'
import { githubGraphql } from '../../src/plugins/github/graphql-plugin.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { SMALL, useFake } from './support/fake.ts'
import { domainRows, NAME, runGithub, storedIds } from './support/github.ts'

describeOneWithTables('what is deleted on GitHub', (test) => {
  const start = useFake(test)

  it('goes with the next run over GraphQL: issues and pull requests, with all that hangs on them', async () => {
    const fake = await start({ ...SMALL, issues: 4, pullRequests: 4 })
    await runGithub(test.database, githubGraphql)
    const { issues, pullRequests } = fake.world.repository(NAME)
    const [issue, pull] = [[...issues][1]!, [...pullRequests][1]!]
    fake.update({ repository: NAME, remove: 'issues', index: issue.index })
    fake.update({ repository: NAME, remove: 'pullRequests', index: pull.index })
    await runGithub(test.database, githubGraphql)
    const stored = await storedIds(test.database)
    expect(stored.issues).toEqual([...issues].map(({ id }) => String(id)).sort())
    expect(stored.pullRequests).toEqual([...pullRequests].map(({ id }) => String(id)).sort())
    const rows = await domainRows(test.database)
    expect(JSON.stringify(rows.issues)).not.toContain(String(issue.id))
    for (const name of ['pull_requests', 'pull_request_commits', 'pull_request_reviewers']) {
      expect(JSON.stringify(rows[name] ?? []), name).not.toContain(`GithubPullRequest:1:${pull.id}`)
    }
  })
})
