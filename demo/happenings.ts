/** Everything that can happen in the organisation, as plain data; times are milliseconds. */
import type { Service } from './organisation.ts'

export interface Review {
  readonly by: string
  readonly at: number
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED'
  /** Comments on lines. */
  readonly remarks: readonly string[]
}
export type JobName = 'lint' | 'test' | 'package'
export interface Build {
  readonly at: number
  readonly minutesQueued: number
  readonly minutes: number
  /** undefined: it succeeded. */
  readonly failedJob: JobName | undefined
}
export interface Change {
  readonly title: string
  readonly author: string
  readonly reviews: readonly Review[]
  /** The times of its commits, in order. */
  readonly commits: readonly number[]
  readonly openedAt: number
  readonly outcome: 'merged' | 'closed' | 'open'
  /** The time of the merge or the close. */
  readonly endedAt: number | undefined
  readonly additions: number
  readonly deletions: number
  readonly files: number
  /** All of one commit. */
  readonly builds: readonly Build[]
}

export interface Deployment {
  readonly at: number
  readonly minutesQueued: number
  readonly minutes: number
  readonly isSuccess: boolean
  readonly environment: 'production' | 'staging'
  /** How many changes were merged by then. */
  readonly changes: number
  readonly by: string
}

export const CATEGORIES = ['Outage', 'Degradation', 'Data'] as const
export const PRIORITIES = ['Highest', 'High', 'Medium', 'Low'] as const
export interface Ticket {
  readonly key: string
  readonly type: 'Epic' | 'Story' | 'Bug' | 'Incident'
  readonly title: string
  readonly priority: (typeof PRIORITIES)[number]
  readonly reporter: string
  readonly assignee: string
  readonly createdAt: number
  readonly begunAt: number
  readonly doneAt: number | undefined
  readonly category?: (typeof CATEGORIES)[number]
  readonly points?: number
  readonly epic?: string
}
export interface Sprint {
  readonly name: string
  readonly from: number
  readonly to: number
}

/** An issue that a customer writes on GitHub. */
export interface Report {
  readonly title: string
  readonly label: 'bug' | 'question'
  readonly by: string
  readonly at: number
  readonly closedAt: number | undefined
}

/** Told by other tools, of the app. */
export interface Release {
  readonly version: string
  readonly at: number
  readonly isSuccess: boolean
}
export interface Alarm {
  readonly key: string
  readonly title: string
  readonly at: number
  readonly endedAt: number | undefined
}

export interface ServiceStory {
  readonly service: Service
  readonly repository: string
  readonly key: string
  readonly changes: readonly Change[]
  readonly deployments: readonly Deployment[]
  readonly tickets: readonly Ticket[]
  /** None: the board has no sprints. */
  readonly sprints: readonly Sprint[]
  readonly reports: readonly Report[]
  readonly releases: readonly Release[]
  readonly alarms: readonly Alarm[]
  /** From when on CircleCI builds it; undefined: never. */
  readonly circleciFrom: number | undefined
}

/** In the order of their merges, as they are in git. */
export const mergedChanges = ({ changes }: Pick<ServiceStory, 'changes'>): readonly Change[] =>
  changes.filter(({ outcome }) => outcome === 'merged').sort((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0))
