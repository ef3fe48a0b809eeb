/** A fake GitHub whose repository has data for each of the four keys. */
import { join } from 'node:path'
import { type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { makeRepository, temporaryFolder } from '../gitextractor/support/repository.ts'
import { serveGit } from '../gitextractor/support/server.ts'

const DAY = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * DAY)

export interface OrganisationOptions {
  /** Repositories besides acme/web that cannot be cloned. Each has four merged pull requests. */
  readonly uncloned?: readonly string[]
}

/** Ten pull requests, each merged and deployed to production a day later, and one incident after one of the deployments. */
export async function startOrganisation({ uncloned = [] }: OrganisationOptions = {}): Promise<FakeGithub> {
  const repository = makeRepository(join(temporaryFolder(), 'web'))
  const git = await serveGit(join(repository.folder, '..'))
  const amounts = { issues: 1, pullRequests: 10, workflowRuns: 3, commits: 3, deployments: 10, releases: 0 }
  const name = 'acme/web'
  const quiet = { statusesPerDeployment: 0, commentsPerIssue: 0 }
  const github = await startFakeGithub({
    world: {
      from: daysAgo(40).toISOString(),
      until: daysAgo(1).toISOString(),
      repositories: [
        { name, cloneUrl: `${git.url}/web`, ...amounts, ...quiet },
        ...uncloned.map((other) => ({
          name: other,
          cloneUrl: `${git.url}/nothing-here`,
          ...amounts,
          ...quiet,
          issues: 0,
          workflowRuns: 0,
          pullRequests: 4,
          deployments: 0,
        })),
      ],
    },
  })
  for (const other of uncloned) {
    for (const { number, createdAt } of [...github.world.repository(other).pullRequests]) {
      const mergedAt = new Date(Date.parse(createdAt) + 60_000).toISOString()
      const closed = { state: 'closed' as const, closedAt: mergedAt, closedBy: 'user-1', mergedBy: 'user-1' }
      const merged = { ...closed, mergedAt, updatedAt: mergedAt, mergeCommitSha: `${number}`.padStart(40, 'a') }
      github.update({ repository: other, edit: 'pullRequests', index: number, with: merged })
    }
  }
  const pulls = [...github.world.repository(name).pullRequests]
  for (const [index, { number }] of pulls.entries()) {
    const merged = daysAgo(38 - index * 3)
    const mergedAt = merged.toISOString()
    const sha = repository.commit(`merge ${number}`, Math.floor(merged.getTime() / 1000))
    github.update({ repository: name, add: 'commits', with: { sha, nodeId: `C_${sha}`, authoredAt: mergedAt } })
    const createdAt = new Date(merged.getTime() - DAY / 2).toISOString()
    const closed = { state: 'closed' as const, closedAt: mergedAt, closedBy: 'user-1', mergedBy: 'user-1' }
    const times = { createdAt, updatedAt: mergedAt, mergedAt }
    github.update({
      repository: name,
      edit: 'pullRequests',
      index: number,
      with: { ...closed, ...times, mergeCommitSha: sha },
    })
    const deployedAt = new Date(merged.getTime() + DAY).toISOString()
    const deployed = { sha, environment: 'production', createdAt: deployedAt, updatedAt: deployedAt }
    github.update({ repository: name, edit: 'deployments', index: index + 1, with: deployed })
    const status = { state: 'success' as const, createdAt: deployedAt, updatedAt: deployedAt }
    github.update({ repository: name, add: 'statuses', parent: index + 1, with: status })
  }
  const incident = { title: 'Down', labels: ['incident'], createdAt: daysAgo(20).toISOString() }
  const closed = {
    state: 'closed' as const,
    closedAt: daysAgo(19.5).toISOString(),
    updatedAt: daysAgo(19.5).toISOString(),
  }
  const [issue] = [...github.world.repository(name).issues]
  github.update({ repository: name, edit: 'issues', index: issue!.number, with: { ...incident, ...closed } })
  return github
}
