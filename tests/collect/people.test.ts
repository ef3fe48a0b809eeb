/** People appear in many repositories, but their profiles are asked for once. */
import { expect, it } from 'vitest'
import { deleteScopeData } from '../../src/control-plane/scopes/scope-data.ts'
import { githubGraphql } from '../../src/plugins/github/graphql-plugin.ts'
import { github, githubSpec } from '../../src/plugins/github/plugin.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { SMALL, useFake } from './support/fake.ts'
import { connect, domainRows, NAME, runGithub } from './support/github.ts'

const OTHER = 'acme/api'

describeOneWithTables('people of two repositories', (test) => {
  const start = useFake(test)

  it('are asked for once a connection, and each repository has them', async () => {
    const world = {
      users: 4,
      repositories: [
        { ...SMALL, name: NAME },
        { ...SMALL, name: OTHER },
      ],
    }
    const fake = await start(SMALL, { world })
    await connect(test.database, { url: fake.url, repository: OTHER, githubId: fake.world.repository(OTHER).id })
    const asked = () => fake.requests.entries.filter(({ template }) => template.startsWith('/users/')).length
    const people = async () => (await domainRows(test.database)).accounts ?? []

    await runGithub(test.database, github)
    const first = asked()
    expect(first).toBeGreaterThan(8)
    await runGithub(test.database, github, { repository: OTHER })
    const both = await people()
    expect(asked() - first).toBeLessThan(3)

    // The first repository to run again asks for news, and the other one takes over the answers.
    fake.requests.clear()
    await runGithub(test.database, github)
    expect(asked()).toBe(first)
    await runGithub(test.database, github, { repository: OTHER })
    expect(asked() - first).toBeLessThan(3)

    // Profiles that another repository took over stay when the repository that asked for them is deleted.
    const scope = { connection_id: 1, github_id: fake.world.repository(NAME).id, full_name: NAME }
    await deleteScopeData(test.database, [github, githubGraphql], githubSpec, 1, scope)
    expect((await people()).length).toBeGreaterThanOrEqual(both.length - 2)

    fake.requests.clear()
    await runGithub(test.database, github, { repository: OTHER, fullSync: true })
    expect(asked()).toBeGreaterThan(8)
    expect(await people()).not.toEqual([])
  })
})
