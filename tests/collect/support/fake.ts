import { afterEach, beforeEach, expect } from 'vitest'
import { type FakeGithub, startFakeGithub } from '../../fake-github/fake-github.ts'
import type { FakeGithubOptions } from '../../fake-github/settings.ts'
import type { RepositoryOptions } from '../../fake-github/world/settings.ts'
import type { TestDatabase } from '../../support/databases.ts'
import { type Connected, connect, emptyGithub, NAME } from './github.ts'

/** A few records of each kind. */
export const SMALL: RepositoryOptions = {
  name: NAME,
  issues: 20,
  pullRequests: 20,
  workflowRuns: 5,
  deployments: 3,
  releases: 2,
  commits: 3,
}

/** Prepares an empty database for each test of a block, and checks that the fake saw only requests that GitHub would accept. */
export function useFake(test: TestDatabase) {
  let running: FakeGithub | undefined
  beforeEach(() => emptyGithub(test.database))
  afterEach(async () => {
    const { violations = [] } = running ?? {}
    await running?.stop()
    running = undefined
    expect(violations).toEqual([])
  })
  return async (
    repository: RepositoryOptions = SMALL,
    options: FakeGithubOptions = {},
    connected: Partial<Connected> = {},
  ): Promise<FakeGithub> => {
    running = await startFakeGithub({ world: { users: 12, repositories: [repository] }, ...options })
    const githubId = running.world.find(repository.name)?.id ?? 1
    await connect(test.database, { url: running.url, repository: repository.name, githubId, ...connected })
    return running
  }
}
