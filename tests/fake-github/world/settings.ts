/** A number, or a range from which each parent draws its own number. */
export type Amount = number | readonly [minimum: number, maximum: number]

export interface RepositorySettings {
  /** `owner/name`. The owner is an organisation or a user of the world. */
  readonly name: string
  readonly issues: number
  readonly pullRequests: number
  readonly workflowRuns: number
  readonly labels: number
  readonly milestones: number
  /** Commits on the default branch. A repository without any is empty. */
  readonly commits: number
  readonly deployments: number
  readonly releases: number
  readonly jobsPerRun: Amount
  /** Comments per issue and per pull request. */
  readonly commentsPerIssue: Amount
  readonly eventsPerIssue: Amount
  readonly commitsPerPullRequest: Amount
  readonly reviewsPerPullRequest: Amount
  readonly commentsPerReview: Amount
  readonly statusesPerDeployment: Amount
  readonly private: boolean
  readonly archived: boolean
  /** If false, GitHub answers 410 to requests for issues and milestones. */
  readonly hasIssues: boolean
  /** Deleted: answers 404. */
  readonly gone: boolean
  /** Former names `owner/name` that redirect to this repository. */
  readonly formerNames: readonly string[]
  /** `owner/name` of the repository that this one was forked from. */
  readonly parent: string | null
  readonly cloneUrl: string | null
}
export type RepositoryOptions = Partial<RepositorySettings> & Pick<RepositorySettings, 'name'>

export interface WorldSettings {
  readonly seed: number
  /** All generated events happen in this period. */
  readonly from: string
  readonly until: string
  readonly users: number
  /** People who replace the generated ones. */
  readonly people: readonly { readonly login: string; readonly name: string; readonly email: string }[]
  readonly organisations: readonly string[]
  readonly repositories: readonly RepositorySettings[]
}
export type WorldOptions = Partial<Omit<WorldSettings, 'repositories'>> & {
  readonly repositories?: readonly RepositoryOptions[]
}

const REPOSITORY_DEFAULTS: Omit<RepositorySettings, 'name'> = {
  issues: 40,
  pullRequests: 30,
  workflowRuns: 25,
  labels: 14,
  milestones: 4,
  commits: 30,
  deployments: 12,
  releases: 6,
  jobsPerRun: [1, 4],
  commentsPerIssue: [0, 3],
  eventsPerIssue: [0, 3],
  commitsPerPullRequest: [1, 4],
  reviewsPerPullRequest: [0, 3],
  commentsPerReview: [0, 2],
  statusesPerDeployment: [0, 4],
  private: false,
  archived: false,
  hasIssues: true,
  gone: false,
  formerNames: [],
  parent: null,
  cloneUrl: null,
}

const NOTHING = { issues: 0, pullRequests: 0, workflowRuns: 0, milestones: 0, commits: 0, deployments: 0, releases: 0 }
const DEFAULT_REPOSITORIES: readonly RepositoryOptions[] = [
  { name: 'acme/web' },
  { name: 'acme/empty', ...NOTHING },
  { name: 'acme/attic', archived: true, issues: 5, pullRequests: 5 },
  { name: 'acme/new-name', formerNames: ['acme/old-name'], issues: 5, pullRequests: 5 },
  { name: 'acme/gone', gone: true },
  { name: 'globex/api', private: true, issues: 5, pullRequests: 5 },
  { name: 'user-1/web', parent: 'acme/web', ...NOTHING, commits: 3 },
]

export function worldSettings(options: WorldOptions): WorldSettings {
  return {
    seed: options.seed ?? 1,
    from: options.from ?? '2023-01-01T00:00:00Z',
    until: options.until ?? '2024-12-31T00:00:00Z',
    users: options.people?.length ?? options.users ?? 30,
    people: options.people ?? [],
    organisations: options.organisations ?? ['acme', 'globex'],
    repositories: (options.repositories ?? DEFAULT_REPOSITORIES).map((each) => ({ ...REPOSITORY_DEFAULTS, ...each })),
  }
}
