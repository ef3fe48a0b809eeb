import { expect, it } from 'vitest'
import { describeEachDatabase } from '../support/databases.ts'
import { SMALL, useFake } from './support/fake.ts'
import { differences, NAME, plugins, runGithub } from './support/github.ts'

describeEachDatabase('a pull request of more commits than GitHub lists', (test) => {
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
})
