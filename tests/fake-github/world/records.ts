/**
 * The records of the generated world, in one form for REST and GraphQL. Times are RFC 3339 text in UTC with whole seconds, as
 * GitHub sends them, so comparing the text compares the times. People are named by login. Null is a deleted account.
 */
export interface Item {
  /** The index in its collection. For a child it is `parent index * 1000 + ordinal`. */
  readonly index: number
  readonly id: number
  readonly nodeId: string
  readonly createdAt: string
  readonly updatedAt: string
}

export interface User {
  readonly id: number
  readonly nodeId: string
  readonly login: string
  readonly type: 'User' | 'Bot'
  readonly name: string | null
  readonly email: string | null
  readonly company: string | null
  readonly organisations: readonly string[]
  readonly createdAt: string
}

export interface Organisation {
  readonly id: number
  readonly nodeId: string
  readonly login: string
  readonly description: string
  readonly createdAt: string
}

export interface Label extends Item {
  readonly name: string
  readonly color: string
  /** GitHub also sends null, but its own description excludes that. */
  readonly description: string
}

export interface Milestone extends Item {
  readonly number: number
  readonly title: string
  readonly description: string | null
  readonly state: 'open' | 'closed'
  readonly closedAt: string | null
  readonly dueOn: string | null
  readonly creator: string | null
}

export interface Issue extends Item {
  readonly number: number
  readonly title: string
  readonly body: string | null
  readonly state: 'open' | 'closed'
  readonly author: string | null
  readonly assignees: readonly string[]
  readonly labels: readonly string[]
  readonly milestone: number | null
  readonly closedAt: string | null
  readonly closedBy: string | null
}

export interface PullRequest extends Issue {
  /** REST also lists a pull request among the issues, with another id. */
  readonly issueId: number
  readonly isDraft: boolean
  readonly mergedAt: string | null
  readonly mergedBy: string | null
  readonly mergeCommitSha: string | null
  readonly headRef: string
  readonly headSha: string
  /** Null if the fork was deleted. */
  readonly headRepository: { readonly id: number; readonly owner: string; readonly name: string } | null
  readonly baseRef: string
  readonly baseSha: string
  readonly additions: number
  readonly deletions: number
  readonly changedFiles: number
  readonly requestedReviewers: readonly string[]
}

export interface Commit extends Item {
  readonly sha: string
  readonly message: string
  readonly authorName: string
  readonly authorEmail: string
  readonly authoredAt: string
  /** Null if the e-mail address belongs to no account. */
  readonly author: string | null
  readonly parents: readonly string[]
  readonly additions: number
  readonly deletions: number
}

export interface Comment extends Item {
  readonly number: number
  readonly author: string | null
  readonly body: string
}

export interface IssueEvent extends Item {
  readonly number: number
  readonly event: 'labeled' | 'assigned' | 'milestoned' | 'renamed' | 'referenced' | 'closed' | 'mentioned'
  readonly actor: string | null
  readonly commitSha: string | null
  readonly label: string | null
  readonly assignee: string | null
}

export interface Review extends Item {
  readonly number: number
  readonly author: string | null
  readonly body: string
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED' | 'PENDING'
  readonly commitSha: string
  readonly submittedAt: string | null
}

export interface ReviewComment extends Item {
  readonly number: number
  readonly reviewId: number
  readonly reviewIndex: number
  readonly author: string | null
  readonly body: string
  readonly path: string
  readonly line: number
  readonly commitSha: string
}

export interface WorkflowRun extends Item {
  readonly name: string
  readonly title: string
  readonly runNumber: number
  readonly workflow: number
  readonly event: string
  readonly status: 'completed' | 'in_progress' | 'queued'
  readonly conclusion: string | null
  readonly headBranch: string
  readonly headSha: string
  readonly actor: string
  /** The number of attempts. Jobs of earlier attempts are no longer listed. */
  readonly attempt: number
  readonly startedAt: string
}

export interface Job extends Item {
  readonly runIndex: number
  readonly name: string
  readonly status: 'completed' | 'in_progress' | 'queued'
  readonly conclusion: string | null
  readonly startedAt: string
  readonly completedAt: string | null
}

export interface Deployment extends Item {
  readonly sha: string
  readonly ref: string
  readonly task: string
  readonly environment: string
  readonly description: string | null
  readonly creator: string
}

export interface DeploymentStatus extends Item {
  readonly deploymentIndex: number
  readonly state: 'pending' | 'queued' | 'in_progress' | 'success' | 'failure' | 'error' | 'inactive'
  readonly creator: string
  /** The address of the log, for a deployment by a job of a workflow run. */
  readonly logUrl?: string
}

export interface Release extends Item {
  readonly tag: string
  readonly name: string | null
  readonly body: string | null
  readonly isDraft: boolean
  readonly isPrerelease: boolean
  readonly publishedAt: string | null
  readonly author: string
  readonly sha: string
}
