import { afterEach, beforeEach, expect } from 'vitest'
import { emptyGithub } from '../collect/support/github.ts'
import { DEFAULT_TOKEN, type FakeGitlab, type FakeGitlabOptions, startFakeGitlab } from '../fake-gitlab/fake-gitlab.ts'
import type { ProjectOptions } from '../fake-gitlab/world.ts'
import type { TestDatabase } from '../support/databases.ts'
import { connect, PATH } from './support.ts'

/** A few records of each kind. */
export const SMALL: ProjectOptions = {
  path: PATH,
  issues: 8,
  mergeRequests: 12,
  pipelines: 5,
  childPipelines: 2,
  jobsPerPipeline: 2,
  deployments: 4,
  releases: 3,
}

/** Prepares an empty database for each test of a block, and checks that the fake saw only requests that GitLab documents. */
export function useFakeGitlab(test: TestDatabase) {
  let running: FakeGitlab | undefined
  beforeEach(() => emptyGithub(test.database))
  afterEach(async () => {
    const { violations = [] } = running ?? {}
    await running?.stop()
    running = undefined
    expect(violations).toEqual([])
  })
  return async (
    project: Partial<ProjectOptions> = {},
    options: FakeGitlabOptions = {},
    token = DEFAULT_TOKEN,
  ): Promise<FakeGitlab> => {
    running = await startFakeGitlab({ world: { users: 6, projects: [{ ...SMALL, ...project }] }, ...options })
    await connect(test.database, { url: running.url, token }, ...running.world.projects)
    return running
  }
}
