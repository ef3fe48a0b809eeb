/** The records of the fake GitLab. `shapes.ts` writes them in GitLab's form. Times are strings with milliseconds. */
export interface User {
  readonly id: number
  readonly username: string
  name: string
}
export interface Issue {
  readonly id: number
  readonly iid: number
  title: string
  description: string
  state: 'opened' | 'closed'
  readonly type: 'ISSUE' | 'INCIDENT'
  labels: string[]
  readonly author: User
  assignees: User[]
  readonly createdAt: string
  updatedAt: string
  closedAt: string | null
}
export interface Note {
  readonly id: number
  readonly author: User
  body: string
  readonly system: boolean
  readonly type: 'DiffNote' | 'DiscussionNote' | null
  readonly createdAt: string
  updatedAt: string
}
export interface Commit {
  readonly sha: string
  readonly author: User
  readonly title: string
  readonly at: string
}
export interface MergeRequest {
  readonly id: number
  readonly iid: number
  title: string
  description: string
  state: 'opened' | 'merged' | 'closed' | 'locked'
  draft: boolean
  labels: string[]
  readonly author: User
  assignees: User[]
  reviewers: User[]
  /** Null if the fork that it came from was deleted. */
  sourceProject: number | null
  readonly sourceBranch: string
  sha: string
  mergeSha: string | null
  squashSha: string | null
  readonly createdAt: string
  updatedAt: string
  mergedAt: string | null
  closedAt: string | null
  mergedBy: User | null
  readonly notes: Note[]
  commits: Commit[]
}
export interface Job {
  readonly id: number
  readonly name: string
  readonly stage: string
  status: string
  readonly createdAt: string
  startedAt: string | null
  finishedAt: string | null
}
export interface Pipeline {
  readonly id: number
  readonly iid: number
  readonly ref: string
  readonly sha: string
  status: string
  readonly source: string
  readonly user: User
  readonly createdAt: string
  /** Null if another tool reported the pipeline: its changes get no time. */
  updatedAt: string | null
  startedAt: string | null
  finishedAt: string | null
  readonly jobs: Job[]
  /** Jobs that start another pipeline. */
  readonly bridges: Job[]
}
export interface Deployment {
  readonly id: number
  readonly iid: number
  readonly ref: string
  readonly sha: string
  status: string
  readonly environment: string
  readonly user: User
  readonly createdAt: string
  updatedAt: string
  /** Null if a tool reported the deployment to GitLab. */
  readonly job: { readonly job: Job; readonly pipeline: Pipeline } | null
}
export interface Release {
  readonly tag: string
  name: string
  readonly sha: string
  readonly author: User
  readonly createdAt: string
  readonly releasedAt: string
}

export const FEATURES = ['issues', 'merge_requests', 'pipelines', 'deployments', 'releases', 'repository'] as const
export type Feature = (typeof FEATURES)[number]

export interface Project {
  readonly id: number
  path: string
  archived: boolean
  readonly cloneUrl: string | null
  isDeleted: boolean
  readonly forkOf: Project | null
  /** Features that are switched off, with the status that their lists answer. */
  readonly disabled: Map<Feature, number>
  readonly createdAt: string
  readonly members: User[]
  readonly issues: Issue[]
  readonly mergeRequests: MergeRequest[]
  readonly pipelines: Pipeline[]
  readonly deployments: Deployment[]
  readonly releases: Release[]
}
export interface Group {
  readonly id: number
  readonly path: string
}
