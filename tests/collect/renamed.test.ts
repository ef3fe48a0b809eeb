import { expect, it } from 'vitest'
import { describeOneWithTables } from '../support/databases.ts'
import { SMALL, useFake } from './support/fake.ts'
import { domainRows, gapsOf, NAME, plugins, runGithub, storedIds } from './support/github.ts'

describeOneWithTables('a repository that was renamed', (test) => {
  const start = useFake(test)

  it.each(plugins)('has its new name and address everywhere after a run of $name', async (plugin) => {
    const fake = await start({ ...SMALL, issues: 3, pullRequests: 3 })
    const { id: githubId } = fake.world.repository(NAME)
    await runGithub(test.database, plugin, { githubId })
    const before = await domainRows(test.database)
    expect(JSON.stringify(before)).toContain('https://github.com/acme/web')
    fake.clock.advance(60_000)
    fake.update({ repository: NAME, rename: 'globex/shop' })
    await runGithub(test.database, plugin, { githubId })
    const after = await domainRows(test.database)
    expect(JSON.stringify(after)).not.toMatch(/acme[/]web/)
    const renamed = JSON.parse(
      JSON.stringify(before).replaceAll('acme/web', 'globex/shop').replaceAll('"name\\":\\"web', '"name\\":\\"shop'),
    )
    const counts = (rows: Record<string, unknown[]>) =>
      Object.fromEntries(Object.entries(rows).map(([name, list]) => [name, list.length]))
    expect(counts(after)).toEqual(counts(before))
    expect(after.issues).toEqual(renamed.issues)
    expect(after.cicd_deployment_commits).toEqual(renamed.cicd_deployment_commits)
  })

  it.each(plugins)('is collected under its old name by a task of $name that names it so', async (plugin) => {
    const fake = await start({ ...SMALL, issues: 3, pullRequests: 3 })
    await runGithub(test.database, plugin)
    fake.clock.advance(3_600_000)
    fake.update({ repository: NAME, rename: 'globex/shop' })
    fake.update({ repository: 'globex/shop', add: 'issues' })
    fake.update({ repository: 'globex/shop', add: 'pullRequests' })
    await runGithub(test.database, plugin)
    const { issues, pullRequests } = await storedIds(test.database)
    expect([issues?.length, pullRequests?.length]).toEqual([4, 4])
    expect(await gapsOf(test.database)).toEqual([])
  })
})
