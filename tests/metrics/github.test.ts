/** The rows that calculations and links need, as a real plugin writes them. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { dora } from '../../src/plugins/dora/plugin.ts'
import { issues } from '../../src/plugins/github/entities/issues.ts'
import { pullRequests } from '../../src/plugins/github/entities/pull-requests.ts'
import { github } from '../../src/plugins/github/plugin.ts'
import { SMALL, useFake } from '../collect/support/fake.ts'
import { NAME, runGithub } from '../collect/support/github.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { runSubtask } from '../support/run-subtask.ts'

describeEachWithTables('calculations on what GitHub has', (test) => {
  const start = useFake(test)

  it('a run that finds nothing new leaves the chain of deployments as it is', async () => {
    const fake = await start({ ...SMALL, deployments: 20, statusesPerDeployment: 2 })
    const id = fake.world.find(NAME)?.id
    const scopeConfig = { envNamePattern: '.*' }
    await runGithub(test.database, github, { scopeConfig })
    await write(test.database, [
      projectMapping.row({ project_name: 'p', table: 'cicd_scopes', row_id: `github:GithubRepo:1:${id}` }),
    ])
    await runSubtask(test.database, dora, 'enrichPrevSuccessDeploymentCommits', { projectName: 'p' })
    const chain = async () =>
      (
        await sql<{ id: string; previous: string }>`
          select id, prev_success_deployment_commit_id as previous from cicd_deployment_commits order by id`.execute(
          test.database.kysely,
        )
      ).rows
    const before = await chain()
    expect(before.some(({ previous }) => previous !== '')).toBe(true)
    await runGithub(test.database, github, { scopeConfig })
    expect(await chain()).toEqual(before)
    await runGithub(test.database, github, { scopeConfig, fullSync: true })
    expect(await chain()).toEqual(before)
  })

  describe('pull requests that name more numbers than a statement takes', () => {
    it('find their issues', async () => {
      const fake = await start()
      const repo_id = fake.world.find(NAME)?.id as number
      const bodyOf = (number: number) =>
        Array.from({ length: 70 }, (_, index) => `fixes #${number * 70 + index}`).join(', ')
      await write(test.database, [
        ...[7, 69_999].map((number) => issues.row({ connection_id: 1, github_id: number, repo_id, number })),
        ...Array.from({ length: 1000 }, (_, number) =>
          pullRequests.row({ connection_id: 1, github_id: number + 1, repo_id, number, body: bodyOf(number) }),
        ),
      ])
      const options = { connectionId: 1, fullName: NAME, scopeConfig: { prBodyClosePattern: 'fixes .*' } }
      await runSubtask(test.database, github, 'Enrich PR Issues', options)
      const { rows } = await sql<{ issue_id: number }>`
        select issue_id from _tool_github_pull_request_issues order by issue_id`.execute(test.database.kysely)
      expect(rows.map(({ issue_id }) => issue_id)).toEqual([7, 69_999])
    })
  })
})
