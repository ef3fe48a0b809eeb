import { type Collection, childSource, collection, listSource, type Revision, type Source } from './collection.ts'
import {
  generateCommit,
  generatePullCommit,
  generatePullRequest,
  generateReview,
  generateReviewComment,
  repositoryId,
} from './generate-changes.ts'
import { generateDeployment, generateJob, generateRelease, generateRun, generateStatus } from './generate-deliveries.ts'
import { generateComment, generateEvent, generateLabel, generateMilestone, generateTicket } from './generate-tickets.ts'
import { type Ground, ground } from './ground.ts'
import { globalId, parseSha, sha } from './ids.ts'
import type { People } from './people.ts'
import type * as records from './records.ts'
import type { RepositorySettings, WorldSettings } from './settings.ts'

/** Every kind of record that a repository holds. */
export interface Collections {
  readonly labels: Collection<records.Label>
  readonly milestones: Collection<records.Milestone>
  readonly issues: Collection<records.Issue>
  readonly pullRequests: Collection<records.PullRequest>
  /** Comments on issues and pull requests. Their parent is the number of either. */
  readonly comments: Collection<records.Comment>
  readonly events: Collection<records.IssueEvent>
  readonly pullCommits: Collection<records.Commit>
  readonly reviews: Collection<records.Review>
  readonly reviewComments: Collection<records.ReviewComment>
  readonly runs: Collection<records.WorkflowRun>
  readonly jobs: Collection<records.Job>
  readonly deployments: Collection<records.Deployment>
  readonly statuses: Collection<records.DeploymentStatus>
  readonly releases: Collection<records.Release>
  /** Commits of the default branch. */
  readonly commits: Collection<records.Commit>
}

export interface Repository extends Collections {
  readonly ordinal: number
  readonly id: number
  readonly nodeId: string
  owner: string
  name: string
  readonly formerNames: string[]
  isArchived: boolean
  hasIssues: boolean
  isGone: boolean
  readonly settings: RepositorySettings
  readonly createdAt: string
  updatedAt: string
  readonly pushedAt: string
  /** Returns an issue or a pull request. */
  ticket(number: number): records.Issue | records.PullRequest | undefined
  commit(name: string): records.Commit | undefined
  /** Returns the commit that merges a pull request. */
  mergeSha(number: number): string
}

export function generateRepository(
  settings: RepositorySettings,
  ordinal: number,
  people: People,
  world: WorldSettings,
): Repository {
  const on = ground(settings, ordinal, people, world)
  const id = repositoryId(ordinal)
  const [owner, name] = settings.name.split('/') as [string, string]
  const collections = generateCollections(on)
  return {
    ...collections,
    ordinal,
    id,
    nodeId: globalId('R', String(id)),
    owner,
    name,
    formerNames: [...settings.formerNames],
    isArchived: settings.archived,
    hasIssues: settings.hasIssues,
    isGone: settings.gone,
    settings,
    createdAt: world.from,
    updatedAt: world.until,
    pushedAt: world.until,
    ticket: (number) => collections.issues.get(number) ?? collections.pullRequests.get(number),
    commit: (text) => findCommit(on, collections, text),
    mergeSha: (number) => sha(on.luck, 'merge', ordinal, number),
  }
}

function generateCollections(on: Ground): Collections {
  const { settings } = on
  const revision: Revision = { value: 0 }
  const numbers = ticketNumbers(settings)
  const commitCount = (pull: number) => on.amount('commits', settings.commitsPerPullRequest, pull)
  const statusCount = (deployment: number) => on.amount('statuses', settings.statusesPerDeployment, deployment)
  const make = <T extends records.Item>(source: Source<T>): Collection<T> => collection(source, revision)

  const issues = make(numbers.source('issue', (number, ordinal) => generateTicket(on, 'issue', number, ordinal)))
  const pullRequests = make(
    numbers.source('pull', (number, ordinal) => generatePullRequest(on, number, ordinal, commitCount(number))),
  )
  const runs = make(listSource(settings.workflowRuns, (index) => generateRun(on, index)))
  const deployments = make(
    listSource(settings.deployments, (index) => generateDeployment(on, index, statusCount(index))),
  )
  const ticketOf = (number: number) => (issues.made(number) ?? pullRequests.made(number))!
  const reviews = make(
    childSource(
      [pullRequests],
      (pull) => on.amount('reviews', settings.reviewsPerPullRequest, pull),
      (index, pull, ordinal) => generateReview(on, index, pullRequests.made(pull)!, ordinal),
    ),
  )
  return {
    issues,
    pullRequests,
    runs,
    deployments,
    reviews,
    labels: make(listSource(settings.labels, (index) => generateLabel(on, index))),
    milestones: make(listSource(settings.milestones, (index) => generateMilestone(on, index))),
    releases: make(listSource(settings.releases, (index) => generateRelease(on, index))),
    commits: make(listSource(settings.commits, (index) => branchCommit(on, index))),
    comments: make(
      childSource(
        [issues, pullRequests],
        (number) => on.amount('comments', settings.commentsPerIssue, number),
        (index, number, ordinal) => generateComment(on, index, ticketOf(number), ordinal),
      ),
    ),
    events: make(
      childSource(
        [issues, pullRequests],
        (number) => on.amount('events', settings.eventsPerIssue, number),
        (index, number, ordinal) => generateEvent(on, index, ticketOf(number), ordinal),
      ),
    ),
    pullCommits: make(
      childSource([pullRequests], commitCount, (index, pull, ordinal) =>
        generatePullCommit(on, index, pullRequests.made(pull)!, ordinal),
      ),
    ),
    reviewComments: make(
      childSource(
        [reviews],
        (review) => on.amount('remarks', settings.commentsPerReview, review),
        (index, review, ordinal) => generateReviewComment(on, index, reviews.made(review)!, ordinal),
      ),
    ),
    jobs: make(
      childSource(
        [runs],
        (run) => on.amount('jobs', settings.jobsPerRun, run),
        (index, run, ordinal) => generateJob(on, index, runs.made(run)!, ordinal),
      ),
    ),
    statuses: make(
      childSource([deployments], statusCount, (index, deployment, ordinal) =>
        generateStatus(on, index, deployments.made(deployment)!, ordinal),
      ),
    ),
  }
}

/** Issues and pull requests share one sequence of numbers. Generated pull requests are spread evenly in it. */
function ticketNumbers({ issues, pullRequests }: RepositorySettings) {
  const total = issues + pullRequests
  let last = total
  const pullsUpTo = (number: number): number => Math.floor((number * pullRequests) / Math.max(1, total))
  const isPull = (number: number): boolean => pullsUpTo(number) > pullsUpTo(number - 1)
  return {
    source: <T extends records.Item>(
      kind: 'issue' | 'pull',
      build: (number: number, ordinal: number) => T,
    ): Source<T> => ({
      parents: () => [0],
      indexes: function* () {
        for (let number = 1; number <= total; number++) if (isPull(number) === (kind === 'pull')) yield number
      },
      holds: (number) =>
        Number.isInteger(number) && number >= 1 && number <= total && isPull(number) === (kind === 'pull'),
      belongs: () => true,
      next: () => ++last,
      build: (number) => build(number, kind === 'pull' ? pullsUpTo(number) : number - pullsUpTo(number)),
    }),
  }
}

function branchCommit(on: Ground, index: number): records.Commit {
  const parents = index > 1 ? [sha(on.luck, 'branch', on.ordinal, index - 1)] : []
  return generateCommit(on, 'branch', index, on.moment(index, on.settings.commits), parents)
}

function findCommit(on: Ground, { commits, pullCommits, pullRequests }: Collections, text: string) {
  // A test may rename a commit of the branch to its name in a real git repository.
  const renamed = () => [...commits].find((commit) => commit.sha === text)
  const parsed = parseSha(text)
  if (parsed === undefined || parsed.repository !== on.ordinal) return renamed()
  const found = {
    branch: () => commits.get(parsed.index),
    pull: () => pullCommits.get(parsed.index),
    merge: () => {
      const pull = pullRequests.get(parsed.index)
      const parents = pull === undefined ? [] : [pull.baseSha, pull.headSha]
      return pull?.mergedAt ? generateCommit(on, 'merge', pull.number, pull.mergedAt, parents) : undefined
    },
  }[parsed.kind]()
  return found?.sha === text ? found : renamed()
}
