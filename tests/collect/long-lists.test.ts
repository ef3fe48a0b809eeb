/** Lists that are longer than the source's numbered pages: asked for by time, or told as a gap. */
import { expect, it } from 'vitest'
import { definePlugin } from '../../src/plugin-kit/define-plugin.ts'
import type { Entity } from '../../src/plugin-kit/entity.ts'
import { githubSpec } from '../../src/plugins/github/plugin.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { SMALL, useFake } from './support/fake.ts'
import { NAME, receiptOf, runGithub, storedIds } from './support/github.ts'

/** Instead of 400, so that a test need not make 40,000 records. */
const MOST_PAGES = 3

function withShortPaging(entity: Entity): Entity {
  const { collect } = entity.spec
  if (!collect?.longList) return entity
  const longList = { ...collect.longList, mostPages: MOST_PAGES }
  return { ...entity, spec: { ...entity.spec, collect: { ...collect, longList } } }
}
const github = definePlugin({ ...githubSpec, entities: githubSpec.entities.map(withShortPaging) })

const about =
  (label: string) =>
  ({ name, step }: { name: string; step: string }) =>
    step !== 'convert' && name.endsWith(` ${label}`)

describeEachDatabase('a list past the last page', (test) => {
  const start = useFake(test)
  const repository = { ...SMALL, issues: 400, pullRequests: 350 }
  const isCapped = { pagingCap: MOST_PAGES * 100 }

  it('is asked for by time of change, and complete', async () => {
    const fake = await start(repository, isCapped)
    await runGithub(test.database, github, { only: about('Issues') })
    const { issues } = fake.world.repository(NAME)
    expect((await storedIds(test.database)).issues).toHaveLength([...issues].length)
    expect(await receiptOf(test.database, 'github_api_issues')).toMatchObject({ status: 'complete', message: '' })
  })

  it('goes on where it was cut off', async () => {
    const fake = await start(repository, isCapped)
    const stop = new AbortController()
    const cut = runGithub(test.database, github, {
      only: about('Issues'),
      signal: stop.signal,
      progress: ({ done = 0 }) => {
        if (done >= 400) stop.abort()
      },
    })
    await expect(cut).rejects.toThrow()
    fake.requests.clear()
    await runGithub(test.database, github, { only: about('Issues') })
    // Issues and pull requests are 750 in one list: eight pages by time, of which the first three had come.
    expect(fake.requests.entries.length).toBeLessThanOrEqual(6)
    const { issues } = fake.world.repository(NAME)
    expect((await storedIds(test.database)).issues).toHaveLength([...issues].length)
  })

  it('is a gap where it cannot be asked for by time', async () => {
    await start(repository, isCapped)
    await runGithub(test.database, github, { only: about('Pull Requests') })
    expect((await storedIds(test.database)).pullRequests).toHaveLength(300)
    const receipt = await receiptOf(test.database, 'github_api_pull_requests')
    expect(receipt).toMatchObject({ status: 'gap', message: expect.stringContaining('no more than 3 pages') })
  })
})
