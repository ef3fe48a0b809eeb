/** Tells the story to the fake GitHub: pull requests with commits and reviews, builds, deployments. */
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../tests/fake-github/fake-github.ts'
import { timestamp } from '../tests/fake-github/world/ground.ts'
import type { Repository } from '../tests/fake-github/world/repository.ts'
import { OWNER, PEOPLE } from './organisation.ts'
import type { Change, Deployment, ServiceStory } from './story.ts'

const MINUTE = 60_000
const EMPTY = {
  ...{ issues: 0, pullRequests: 0, workflowRuns: 0, labels: 0, milestones: 0, commits: 0, deployments: 0, releases: 0 },
  ...{ jobsPerRun: 0, commentsPerIssue: 0, eventsPerIssue: 0, commitsPerPullRequest: 0, reviewsPerPullRequest: 0 },
  ...{ commentsPerReview: 0, statusesPerDeployment: 0 },
}
const NO_COMMIT = '0'.repeat(40)

/** `commits` are those of each change, by repository. */
export async function startGithub(
  stories: readonly ServiceStory[],
  commits: ReadonlyMap<string, readonly string[]>,
  cloneUrl: (repository: string) => string,
): Promise<FakeGithub> {
  const repositories = stories.map(({ repository, service }) => ({
    ...{ name: repository, cloneUrl: cloneUrl(service.name) },
    ...EMPTY,
  }))
  const begin = Math.min(...stories.flatMap(({ changes }) => changes.map(({ commits: [first = 0] }) => first)))
  const world = { from: timestamp(begin), until: timestamp(Date.now()), organisations: [OWNER], people: PEOPLE }
  const github = await startFakeGithub({
    maximumConcurrency: 1000,
    tokens: [{ token: DEFAULT_TOKEN, login: PEOPLE[0]!.login, limits: { core: 1_000_000, graphql: 1_000_000 } }],
    world: { ...world, repositories },
  })
  for (const story of stories) {
    const repository = github.world.repository(story.repository)
    const names = commits.get(story.repository) ?? []
    for (const [index, change] of story.changes.entries()) {
      tellChange(repository, change, names[index] ?? NO_COMMIT, names[index - 1])
    }
    for (const deployment of story.deployments) {
      tellDeployment(repository, deployment, names[deployment.changes - 1] ?? NO_COMMIT)
    }
  }
  return github
}

const at = (moment: number) => ({ createdAt: timestamp(moment), updatedAt: timestamp(moment) })

function tellChange(repository: Repository, change: Change, sha: string, before: string | undefined): void {
  const { author, mergedAt, openedAt, reviewedAt, title, reviewers } = change
  const person = PEOPLE.find(({ login }) => login === author)
  const name = { author, authorName: person?.name ?? author, authorEmail: person?.email ?? `${author}@example.com` }
  const merged = timestamp(mergedAt)
  const base = {
    baseRef: 'main',
    baseSha: before ?? NO_COMMIT,
    headRepository: { id: repository.id, ...ownerOf(repository) },
  }
  const sizes = { additions: change.additions, deletions: change.deletions, changedFiles: change.files }
  const closed = { state: 'closed' as const, closedAt: merged, closedBy: author, mergedAt: merged, mergedBy: author }
  const { number } = repository.pullRequests.add(0, {
    ...{ title, author, body: `${title}.`, assignees: [], labels: [], milestone: null, isDraft: false },
    ...{ ...base, ...sizes, ...closed, mergeCommitSha: sha, requestedReviewers: [] },
    ...{ createdAt: timestamp(openedAt), updatedAt: merged },
  })
  let headSha = NO_COMMIT
  for (const moment of change.commits) {
    const commit = { authoredAt: timestamp(moment), message: title, ...name, ...at(moment) }
    headSha = repository.pullCommits.add(number, commit).sha
  }
  repository.pullRequests.edit(number, { headSha })
  for (const reviewer of reviewers) {
    const submitted = { state: 'APPROVED' as const, submittedAt: timestamp(reviewedAt), ...at(reviewedAt) }
    repository.reviews.add(number, { number, author: reviewer, body: '', commitSha: headSha, ...submitted })
  }
  const parents = before === undefined ? [] : [before]
  repository.commits.add(0, {
    sha,
    nodeId: `C_${sha}`,
    message: title,
    authoredAt: merged,
    parents,
    ...name,
    ...at(mergedAt),
  })
  for (let build = change.failedBuilds; build >= 0; build--) {
    const started = openedAt + (change.failedBuilds - build) * 40 * MINUTE
    tellRun(
      repository,
      { name: 'build', workflow: 1, event: 'pull_request', headBranch: `change-${number}` },
      started,
      {
        ...{ minutes: change.buildMinutes, isSuccess: build === 0, headSha, actor: author },
      },
    )
  }
}

const ownerOf = ({ owner, name }: Repository) => ({ owner, name })

interface Ran {
  readonly minutes: number
  readonly isSuccess: boolean
  readonly headSha: string
  readonly actor: string
}
interface Workflow {
  readonly name: string
  readonly workflow: number
  readonly event: string
  readonly headBranch: string
}

/** A build fails in its tests, whatever else is fine. */
function tellRun({ runs, jobs }: Repository, workflow: Workflow, started: number, ran: Ran): void {
  const { minutes, isSuccess, headSha, actor } = ran
  const conclusion = isSuccess ? 'success' : 'failure'
  const waited = started + MINUTE / 2
  const ended = waited + minutes * MINUTE
  const { index } = runs.add(0, {
    ...{ ...workflow, title: workflow.name, headSha, actor, attempt: 1, status: 'completed', conclusion },
    ...{ startedAt: timestamp(waited), createdAt: timestamp(started), updatedAt: timestamp(ended) },
  })
  const names = workflow.workflow === 1 ? ['lint', 'test', 'package'] : ['deploy']
  names.forEach((name, position) => {
    const begins = waited + (minutes * MINUTE * position) / names.length
    const ends = waited + (minutes * MINUTE * (position + 1)) / names.length
    const isFailed = !isSuccess && (name === 'test' || name === 'deploy')
    const times = { startedAt: timestamp(begins), completedAt: timestamp(ends), createdAt: timestamp(started) }
    const end = { status: 'completed' as const, conclusion: isFailed ? 'failure' : 'success' }
    jobs.add(index, { runIndex: index, name, ...end, ...times, updatedAt: timestamp(ends) })
  })
}

function tellDeployment(repository: Repository, deployment: Deployment, sha: string): void {
  const { environment, by, isSuccess, minutes } = deployment
  const ended = deployment.at + minutes * MINUTE
  const { index } = repository.deployments.add(0, {
    ...{ sha, environment, ref: 'main', task: 'deploy', description: null, creator: by },
    ...{ createdAt: timestamp(deployment.at), updatedAt: timestamp(ended) },
  })
  const state = isSuccess ? ('success' as const) : ('failure' as const)
  repository.statuses.add(index, { deploymentIndex: index, state: 'in_progress', creator: by, ...at(deployment.at) })
  repository.statuses.add(index, { deploymentIndex: index, state, creator: by, ...at(ended) })
  const workflow = { name: `deploy to ${environment}`, workflow: environment === 'production' ? 2 : 3 }
  tellRun(repository, { ...workflow, event: 'push', headBranch: 'main' }, deployment.at, {
    ...{ minutes, isSuccess, headSha: sha, actor: by },
  })
}
