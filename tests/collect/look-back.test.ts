/** Changes on GitHub that do not move a record to the front of its list. */
import { expect, it } from 'vitest'
import { describeOneWithTables } from '../support/databases.ts'
import { SMALL, useFake } from './support/fake.ts'
import { differences, NAME, plugins, runGithub } from './support/github.ts'

const DAY = 86_400_000
const before = (days: number) => new Date(Date.now() - days * DAY).toISOString()
const only = ({ name, isDefault }: { name: string; isDefault: boolean }) =>
  isDefault && /Deploy|Workflow Runs|Job/.test(name)

describeOneWithTables('later runs', (test) => {
  const start = useFake(test)
  const recent = {
    users: 4,
    from: before(25),
    until: before(2),
    repositories: [{ ...SMALL, deployments: 4, workflowRuns: 6 }],
  }

  it.each(plugins)(
    '$name sees a deployment that fails after its success, and a run that is started again',
    async (plugin) => {
      const fake = await start(SMALL, { world: recent })
      const { deployments, runs, jobs } = fake.world.repository(NAME)
      const [deployment] = [...deployments]
      const [run] = [...runs]
      fake.clock.advance(-DAY)
      fake.update({ repository: NAME, add: 'statuses', parent: deployment!.index, with: { state: 'success' } })
      fake.clock.advance(DAY)
      await runGithub(test.database, plugin, { only })
      const result = async () => {
        const id = `github:GithubDeployment:1:${deployment!.nodeId}`
        const found = test.database.kysely.selectFrom('cicd_deployments').select('result').where('id', '=', id)
        return (await found.execute()).map((row) => row.result)
      }
      expect(await result()).toEqual(['SUCCESS'])

      fake.clock.advance(60_000)
      fake.update({ repository: NAME, add: 'statuses', parent: deployment!.index, with: { state: 'failure' } })
      fake.update({ repository: NAME, rerun: run!.index })
      fake.requests.clear()
      await runGithub(test.database, plugin, { only })
      expect(await result()).toEqual(['FAILURE'])
      const stored = await test.database.kysely
        .selectFrom('_tool_github_jobs')
        .select('id')
        .where('run_id', '=', run!.id)
        .execute()
      expect(stored.map(({ id }) => id).sort()).toEqual(
        jobs
          .childrenOf(run!.index)
          .map(({ id }) => id)
          .sort(),
      )
      // Records that have not changed are listed, but their parts are not asked for again.
      const about = fake.requests.entries.filter(({ template }) => /\/(statuses|jobs)$/.test(template))
      expect(about.length).toBeLessThan(runs.size + deployments.size)
      const found = await differences(test.database, fake.world.repository(NAME))
      expect([found.deployments, found.runs, found.jobs]).toEqual([undefined, undefined, undefined])
    },
  )

  it.each(plugins)(
    '$name sees that a run of last year is started again, and has the jobs of the new attempt',
    async (plugin) => {
      const old = {
        users: 4,
        from: before(400),
        until: before(200),
        repositories: [{ ...SMALL, workflowRuns: 12, jobsPerRun: 7 }],
      }
      const fake = await start(SMALL, { world: old })
      const { runs, jobs } = fake.world.repository(NAME)
      const [run] = [...runs]
      await runGithub(test.database, plugin, { only })
      const earlier = jobs.childrenOf(run!.index).map(({ id }) => id)
      expect(earlier).toHaveLength(7)
      fake.clock.advance(60_000)
      fake.update({ repository: NAME, rerun: run!.index })
      fake.requests.clear()
      await runGithub(test.database, plugin, { only })
      const differs = async () => {
        const found = await differences(test.database, fake.world.repository(NAME))
        return [found.runs, found.jobs]
      }
      expect(await differs()).toEqual([undefined, undefined])
      const tasks = await test.database.kysely
        .selectFrom('cicd_tasks')
        .select('id')
        .where('pipeline_id', 'like', `%:${run!.id}`)
        .execute()
      const numbers = tasks.map(({ id }) => Number(id.split(':').at(-1)))
      expect(numbers.sort()).toEqual(
        jobs
          .childrenOf(run!.index)
          .map(({ id }) => id)
          .sort(),
      )
      expect(numbers.filter((id) => earlier.includes(id))).toEqual([])
      // The other runs are listed, but their jobs are not asked for.
      expect(fake.requests.entries.filter(({ template }) => template.endsWith('/actions/runs'))).toHaveLength(1)
      const about = fake.requests.entries.filter(({ template }) => template.endsWith('/jobs'))
      expect(about.length).toBeLessThan(2)
    },
  )
})
