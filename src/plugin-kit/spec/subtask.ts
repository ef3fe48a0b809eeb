/**
 * task      one plugin run on one scope (or, for metrics, one project), with its options
 * subtask   one step of it, known by a public name; the same function serves pipelines and the conformance run
 */

import type { Database } from '../../database/database.ts'
import type { AnyValue } from '../../database/table.ts'

export type Step = 'collect' | 'extract' | 'convert'
export type DomainType = 'CODE' | 'TICKET' | 'CODEREVIEW' | 'CROSS' | 'CICD' | 'CODEQUALITY'

/** How the subtasks of a plugin are spelt: `collectPullRequests` or `Collect Pull Requests`. */
export type Spelling = 'camel' | 'title'

/** What has become known; fields that are absent are as they were. */
export interface Progress {
  readonly done?: number
  readonly expected?: number
  /** Requests sent by this subtask so far. */
  readonly requests?: number
  /** What the source still allows before its next reset, when it says so. */
  readonly requestsLeft?: number
  /** The source asked to wait until then. */
  readonly waitingUntil?: Date
}

/** What whoever runs a task provides. */
export interface TaskRun {
  readonly database: Database
  /** Public task options, e.g. connectionId and fullName. */
  readonly options: Readonly<Record<string, AnyValue>>
  /** Forget what earlier runs remembered. */
  readonly fullSync: boolean
  /** Collect what was changed after this moment; null: everything; absent: from where what is stored begins. */
  readonly timeAfter?: Date | null | undefined
  readonly signal: AbortSignal
  readonly progress: (progress: Progress) => void
  /** One line for the task's log; secrets are redacted there. */
  readonly log?: (line: string) => void
  /** Reads what is stored encrypted, such as a connection's token. */
  readonly decrypt?: (stored: string) => string
  /** The way back, for what a source gives again, such as a token that replaces the stored one. */
  readonly encrypt?: (plain: string) => string
}

export interface SubtaskResult {
  /** Records read. */
  readonly records: number
  /** Rows written. */
  readonly rows: number
  /** Records that went to quarantine. */
  readonly quarantined: number
  /** What the task's message should tell: gaps, and what was odd about the source. */
  readonly remarks?: readonly string[]
  /** A list of its own, as against one for each row of another: what became of it. */
  readonly list?: 'complete' | 'lost'
}

export interface Subtask {
  readonly name: string
  readonly step: Step | 'calculate'
  /** Tables read and written, by name: they decide the order. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  /** Tables whose rows it completes before they are converted. */
  readonly completes?: readonly string[]
  readonly domainTypes: readonly DomainType[]
  /** Runs unless a task names its subtasks. */
  readonly isDefault: boolean
  run(run: TaskRun): Promise<SubtaskResult>
  /** Drives again only what waits in quarantine. */
  redrive?(run: TaskRun): Promise<SubtaskResult>
}

export interface SubtaskKey {
  readonly plugin: string
  readonly subtask: string
  readonly params: string
}
