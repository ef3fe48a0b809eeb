/**
 * task      one plugin run on one scope (or, for metrics, one project), with its options
 * subtask   one step of it, known by a public name; the same function serves pipelines and the conformance run
 */

import type { Database } from '../../database/database.ts'
import type { AnyValue } from '../../database/table.ts'

export type Step = 'collect' | 'extract' | 'convert'
export type DomainType = 'CODE' | 'TICKET' | 'CODEREVIEW' | 'CROSS' | 'CICD' | 'CODEQUALITY'

/** The spelling of a plugin's subtasks: `collectPullRequests` or `Collect Pull Requests`. */
export type Spelling = 'camel' | 'title'

/** News about the progress of a subtask; absent fields have not changed. */
export interface Progress {
  readonly done?: number
  readonly expected?: number
  /** Requests sent by this subtask so far. */
  readonly requests?: number
  /** Number of requests that the source still allows before its next reset, if it says so. */
  readonly requestsLeft?: number
  /** The source has asked to wait until this time. */
  readonly waitingUntil?: Date
}

/** Everything that the caller of a task provides. */
export interface TaskRun {
  readonly database: Database
  /** Public task options, e.g. connectionId and fullName. */
  readonly options: Readonly<Record<string, AnyValue>>
  /** Ignore what earlier runs have remembered. */
  readonly fullSync: boolean
  /** Collect changes after this moment; null: everything; absent: the start date of the stored records applies. */
  readonly timeAfter?: Date | null | undefined
  readonly signal: AbortSignal
  readonly progress: (progress: Progress) => void
  /** One line for the task's log; secrets are redacted there. */
  readonly log?: (line: string) => void
  /** Decrypts stored values, such as a connection's token. */
  readonly decrypt?: (stored: string) => string
  /** Encrypts values before they are stored, such as a new token that replaces the stored one. */
  readonly encrypt?: (plain: string) => string
}

export interface SubtaskResult {
  /** Records read. */
  readonly records: number
  /** Rows written. */
  readonly rows: number
  /** Records that went to quarantine. */
  readonly quarantined: number
  /** Sentences for the task's message: gaps, and oddities of the source. */
  readonly remarks?: readonly string[]
  /** The outcome of the list, if the collector has only one list and not one for each row of a table. */
  readonly list?: 'complete' | 'lost'
}

export interface Subtask {
  readonly name: string
  readonly step: Step | 'calculate'
  /** Names of tables read and written: they decide the order. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  /** Tables whose rows it completes before they are converted. */
  readonly completes?: readonly string[]
  readonly domainTypes: readonly DomainType[]
  /** The subtask runs unless a task names its subtasks. */
  readonly isDefault: boolean
  run(run: TaskRun): Promise<SubtaskResult>
  /** Processes only the records in quarantine again. */
  redrive?(run: TaskRun): Promise<SubtaskResult>
}

export interface SubtaskKey {
  readonly plugin: string
  readonly subtask: string
  readonly params: string
}
