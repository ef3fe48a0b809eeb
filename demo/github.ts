/** Tells the story to the fake GitHub: pull requests with commits and reviews, builds, deployments, issues. */
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../tests/fake-github/fake-github.ts'
import { timestamp } from '../tests/fake-github/world/ground.ts'
import type { Repository } from '../tests/fake-github/world/repository.ts'
import type { Commits } from './git.ts'
import { type Change, type Deployment, mergedChanges, type Report, type ServiceStory } from './happenings.ts'
import { BUILD_JOBS, jobsOf, type Running } from './jobs.ts'
import { OWNER, PEOPLE } from './organisation.ts'
import { MINUTE } from './teller.ts'

const EMPTY = {
  issues: 0,
  pullRequests: 0,
  workflowRuns: 0,
  labels: 0,
  milestones: 0,
  commits: 0,
  deployments: 0,
  releases: 0,
  jobsPerRun: 0,
  commentsPerIssue: 0,
  eventsPerIssue: 0,
  commitsPerPullRequest: 0,
  reviewsPerPullRequest: 0,
  commentsPerReview: 0,
  statusesPerDeployment: 0,
}
const NO_COMMIT = '0'.repeat(40)

/** `commits` are those of the merged changes. */
export async function startGithub(
  stories: readonly ServiceStory[],
  commits: Commits,
  cloneUrl: (repository: string) => string,
): Promise<FakeGithub> {
  const repositories = stories.map(({ repository, service }) => ({
    name: repository,
    cloneUrl: cloneUrl(service.name),
    ...EMPTY,
  }))
  const begin = Math.min(...stories.flatMap(({ changes }) => changes.map(({ commits: [first = 0] }) => first)))
  const world = { from: timestamp(begin), until: timestamp(Date.now()), organisations: [OWNER], people: PEOPLE }
  const github = await startFakeGithub({
    maximumConcurrency: 1000,
    tokens: [{ token: DEFAULT_TOKEN, login: PEOPLE[0]!.login, limits: { core: 1_000_000, graphql: 1_000_000 } }],
    world: { ...world, users: PEOPLE.length, repositories },
  })
  for (const story of stories) tellRepository(github.world.repository(story.repository), story, commits)
  return github
}

function tellRepository(repository: Repository, story: ServiceStory, commits: Commits): void {
  const merged = mergedChanges(story)
  const names = merged.map((change) => commits.get(change) ?? NO_COMMIT)
  const before = new Map(merged.map((change, index) => [change, names[index - 1]]))
  for (const change of story.changes) {
    tellChange(repository, change, { sha: commits.get(change), before: before.get(change), ...story })
  }
  for (const [index, change] of merged.entries()) {
    tellCommit(repository, change, names[index] as string, names[index - 1])
  }
  for (const deployment of story.deployments) {
    tellDeployment(repository, deployment, names[deployment.changes - 1] ?? NO_COMMIT)
  }
  for (const [name, color] of [
    ['bug', 'd73a4a'],
    ['question', 'd876e3'],
  ] as const) {
    repository.labels.add(0, { name, color, description: '' })
  }
  for (const report of story.reports) tellReport(repository, report)
}

const at = (moment: number) => ({ createdAt: timestamp(moment), updatedAt: timestamp(moment) })

function nameOf(author: string) {
  const person = PEOPLE.find(({ login }) => login === author)
  return { author, authorName: person?.name ?? author, authorEmail: person?.email ?? `${author}@example.com` }
}

interface Place {
  /** The commit of the merge. */
  readonly sha: string | undefined
  readonly before: string | undefined
  readonly circleciFrom: number | undefined
}

function tellChange(repository: Repository, change: Change, { sha, before, circleciFrom }: Place): void {
  const { author, openedAt, title, outcome } = change
  const ended = change.endedAt === undefined ? null : timestamp(change.endedAt)
  const mergedAt = outcome === 'merged' ? ended : null
  const { owner, name } = repository
  const base = { baseRef: 'main', baseSha: before ?? NO_COMMIT, headRepository: { id: repository.id, owner, name } }
  const sizes = { additions: change.additions, deletions: change.deletions, changedFiles: change.files }
  const end = { state: ended ? ('closed' as const) : ('open' as const), closedAt: ended, closedBy: ended && author }
  const updatedAt = Math.max(change.endedAt ?? openedAt, ...change.reviews.map((review) => review.at))
  const { number } = repository.pullRequests.add(0, {
    title,
    author,
    body: `${title}.`,
    assignees: [],
    labels: [],
    milestone: null,
    isDraft: false,
    ...base,
    ...sizes,
    ...end,
    mergedAt,
    mergedBy: mergedAt && author,
    mergeCommitSha: sha ?? null,
    requestedReviewers: [],
    createdAt: timestamp(openedAt),
    updatedAt: timestamp(updatedAt),
  })
  let headSha = NO_COMMIT
  for (const moment of change.commits) {
    const commit = { authoredAt: timestamp(moment), message: title, ...nameOf(author), ...at(moment) }
    headSha = repository.pullCommits.add(number, commit).sha
  }
  repository.pullRequests.edit(number, { headSha })
  for (const { by, at: moment, state, remarks } of change.reviews) {
    const review = { number, author: by, body: '', commitSha: headSha, state, submittedAt: timestamp(moment) }
    const { index, id } = repository.reviews.add(number, { ...review, ...at(moment) })
    for (const [line, body] of remarks.entries()) {
      const place = { path: 'src/part-1.ts', line: line + 1, commitSha: headSha, reviewId: id, reviewIndex: index }
      repository.reviewComments.add(index, { number, author: by, body, ...place, ...at(moment) })
    }
  }
  for (const build of change.builds) {
    if (circleciFrom === undefined || build.at < circleciFrom) {
      const workflow = { name: 'build', workflow: 1, event: 'pull_request', headBranch: `change-${number}` }
      tellRun(repository, { ...workflow, headSha, actor: author }, build, BUILD_JOBS)
    }
  }
}

function tellCommit(repository: Repository, change: Change, sha: string, before: string | undefined): void {
  const { author, title, endedAt = 0 } = change
  const parents = before === undefined ? [] : [before]
  const commit = { sha, nodeId: `C_${sha}`, message: title, authoredAt: timestamp(endedAt), parents }
  repository.commits.add(0, { ...commit, ...nameOf(author), ...at(endedAt) })
}

interface Workflow {
  readonly name: string
  readonly workflow: number
  readonly event: string
  readonly headBranch: string
  readonly headSha: string
  readonly actor: string
}

function tellRun({ runs, jobs }: Repository, workflow: Workflow, running: Running, names: readonly string[]): void {
  const ran = jobsOf(names, running)
  const created = timestamp(running.at)
  const conclusion = running.failedJob === undefined ? 'success' : 'failure'
  const { index } = runs.add(0, {
    ...workflow,
    title: workflow.name,
    attempt: 1,
    status: 'completed',
    conclusion,
    startedAt: created,
    createdAt: created,
    updatedAt: timestamp(ran.at(-1)?.to ?? running.at),
  })
  for (const { name, from, to, isFailed } of ran) {
    const end = { status: 'completed' as const, conclusion: isFailed ? 'failure' : 'success' }
    const times = {
      startedAt: timestamp(from),
      completedAt: timestamp(to),
      createdAt: created,
      updatedAt: timestamp(to),
    }
    jobs.add(index, { runIndex: index, name, ...end, ...times })
  }
}

/** By a workflow, so that there is a run for each; the deployment tells the environment. */
function tellDeployment(repository: Repository, deployment: Deployment, sha: string): void {
  const { environment, by, isSuccess, minutes, minutesQueued } = deployment
  const ended = deployment.at + minutes * MINUTE
  const { index } = repository.deployments.add(0, {
    sha,
    environment,
    ref: 'main',
    task: 'deploy',
    description: null,
    creator: by,
    createdAt: timestamp(deployment.at),
    updatedAt: timestamp(ended),
  })
  const state = isSuccess ? ('success' as const) : ('failure' as const)
  repository.statuses.add(index, { deploymentIndex: index, state: 'in_progress', creator: by, ...at(deployment.at) })
  repository.statuses.add(index, { deploymentIndex: index, state, creator: by, ...at(ended) })
  const workflow = { name: `deploy to ${environment}`, workflow: environment === 'production' ? 2 : 3 }
  const ran = { at: deployment.at, minutesQueued, minutes, failedJob: isSuccess ? undefined : 'deploy' }
  tellRun(repository, { ...workflow, event: 'push', headBranch: 'main', headSha: sha, actor: by }, ran, ['deploy'])
}

function tellReport({ issues }: Repository, { title, label, by, at: moment, closedAt }: Report): void {
  const closed = closedAt === undefined ? null : timestamp(closedAt)
  issues.add(0, {
    title,
    body: null,
    author: by,
    assignees: [],
    labels: [label],
    milestone: null,
    state: closed ? ('closed' as const) : ('open' as const),
    closedAt: closed,
    closedBy: closed && by,
    createdAt: timestamp(moment),
    updatedAt: closed ?? timestamp(moment),
  })
}
