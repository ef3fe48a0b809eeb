/** A plugin is data: REST routes, forms, docs and subtasks are derived from it, and written once for all plugins. */

import type { Database } from '../../database/database.ts'
import type { AnyTable, RawRecord } from '../../database/table.ts'
import type { ApiClient, Credential, HttpRequest, HttpResponse, RateLimits } from '../http/index.ts'
import type { DeliverySpec } from './deliveries.ts'
import type { Entity, EntityTask } from './entity.ts'
import type { AnyScope, Fields, Settings } from './fields.ts'
import type { PlanParts } from './plan.ts'
import type { PushSource } from './push-source.ts'
import type { CheckConnection, RemoteScopes } from './remote-scopes.ts'
import type { Route } from './route.ts'
import type { FoundName, NameKinds, NameSample, RuleSuggestion } from './rule-names.ts'
import type { DomainType, Spelling, Subtask, TaskRun } from './subtask.ts'
import type { TaskOptions } from './task-options.ts'
import type { TokenRotation } from './token-rotation.ts'

export interface ScopeSpec {
  readonly table: AnyTable
  readonly title: string
  /** Column that people know a scope by; default: `full_name`, or `name`. */
  readonly titleColumn?: string
  /** Task option → column of the scope table that it is looked up by. */
  readonly options: Readonly<Record<string, string>>
  /** Further ones, of plans that say all that is needed of a scope, so that it need not be stored. */
  readonly toldBy?: Readonly<Record<string, string>>
  /** Tasks may name no scope, as in DevLake: they see only what belongs to the connection as a whole. */
  readonly isOptional?: boolean
  /**
   * What marks raw rows of a scope; field order and letter case are part of the format. `options` are those of a task, which
   * may say all that is needed (`toldBy`).
   */
  readonly params: (connectionId: number, scope: AnyScope, options?: TaskRun['options']) => Record<string, unknown>
  /** How the source is asked what could be collected. */
  readonly remote?: RemoteScopes
  /** A cheap request about the scope itself: when it is refused, the scope is gone, and not only one of its lists. */
  readonly check?: (scope: AnyScope) => ScopeCheck
}

export interface ScopeCheck extends HttpRequest {
  /** Where the answer is about more than the scope: what it says of it. */
  readonly finds?: (body: RawRecord) => {
    readonly isThere: boolean
    /** Why its lists are refused though it is there, in a sentence. */
    readonly remark?: string
  }
}

/** Rows that many records make, such as people: they stay as long as a row of these tables refers to them. */
export interface Referred {
  readonly table: AnyTable
  /** Only rows of the same scope count. */
  readonly isScoped?: boolean
  readonly by: readonly Reference[]
}

export interface Reference {
  readonly table: AnyTable
  /** Column of the table that is referred to → column of this one. */
  readonly columns: Readonly<Record<string, string>>
}

/** A subtask that no entity describes. */
export interface ExtraStep {
  readonly name: string
  readonly domainTypes: readonly DomainType[]
  /** Gives the number of records it looked at. */
  readonly run: (task: SourceTask, client: ApiClient) => Promise<number>
}

/** A subtask that completes rows of one tool table by what other tables say, before they are converted. */
export interface CompletionStep {
  readonly name: string
  readonly domainTypes: readonly DomainType[]
  readonly table: AnyTable
  readonly reads: readonly AnyTable[]
  /** Rows that it changes get the stamp, by which incremental conversions find them; gives their number. */
  readonly run: (task: SourceTask, stamp: Date) => Promise<number>
}

export interface PluginSpec {
  readonly name: string
  readonly title: string
  /** What it knows, in a sentence for those who choose. */
  readonly about?: string
  readonly spelling: Spelling
  /** The plugin that it works for, whose connections, scopes and scope configs it uses. Nothing else makes two plugins kin. */
  readonly settingsOf?: PluginSpec
  readonly connection: {
    readonly fields: Fields
    readonly endpoint: string
    /** What the credentials must be allowed to do, a line for each kind of them; stands in docs/sources.md. */
    readonly rights?: readonly string[]
    /** Further fields, none of them secret, that requests need; they stand in `connection` of their context. */
    readonly facts?: readonly string[]
    /** Addresses of further servers that belong to a connection, such as one for uploads or for builds. */
    readonly hosts?: (settings: Settings) => readonly string[]
    /** What requests are signed with; several are pooled. Default: the comma separated `token`. */
    readonly credentials?: (settings: Settings) => readonly Credential[]
    /** For sources whose refresh tokens rotate: how new ones are asked for. `fields` then has the `rotatingFields`. */
    readonly rotation?: TokenRotation
    /** The headers that carry a credential. Default: `Authorization: Bearer`. */
    readonly sign?: (credential: string, settings: Settings) => Readonly<Record<string, string>>
    /** The user name that git clones with, where it is not `username`. */
    readonly cloneUser?: (settings: Settings) => string
    readonly headers?: Readonly<Record<string, string>>
    /** For sources that answer wrong credentials with a page to sign in, and a status of success. */
    readonly asksToSignIn?: (response: HttpResponse) => boolean
    readonly limits?: RateLimits
    /** A cheap request that proves that a connection works. */
    readonly test?: HttpRequest
    /** Whether its answer is one that only this source gives; without it, any object will do. */
    readonly knows?: (body: RawRecord) => boolean
    /** Finds out more than `test` can, such as what each token may do; asked instead of it. */
    readonly check?: CheckConnection
    /** What collectors need to know of the server, such as its version; asked once a task. */
    readonly probe?: (get: (path: string) => Promise<RawRecord>) => Promise<unknown>
  }
  readonly scope: ScopeSpec
  /** A blueprint may have a connection without scopes. */
  readonly isTakenWhole?: true
  readonly scopeConfig: {
    readonly fields: Fields
    /** Turns stored settings into what entities use, such as compiled patterns; refuses wrong ones by a UserError. */
    readonly prepare: (settings: Settings) => unknown
    /** Names that rules speak of, by kind, as extraction stored them. */
    readonly names?: NameKinds
    /** How the source is asked for some of them before anything is stored. */
    readonly samples?: readonly NameSample[]
    /** Rules that are no patterns, from the names that are there. */
    readonly suggest?: (names: ReadonlyMap<string, readonly FoundName[]>) => readonly RuleSuggestion[]
  }
  readonly entities: readonly Entity[]
  /**
   * Raw tables, without `_raw_`, that DevLake's plugin of this name fills and this one does not. Rows of a database that was
   * moved in are marked by them.
   */
  readonly formerRaws?: readonly string[]
  /** What it sends by itself, as it changes. */
  readonly deliveries?: DeliverySpec
  readonly referred?: readonly Referred[]
  /** Keys in raw records that say nothing by themselves, such as customfield_10024: the table with their titles. */
  readonly keyTitles?: { readonly table: AnyTable; readonly key: string; readonly title: string }
  /** Looks at the source before and after everything else. */
  readonly extra?: { readonly first: readonly ExtraStep[]; readonly last: readonly ExtraStep[] }
  readonly completions?: readonly CompletionStep[]
  /** Of its own, beside those that every source has. */
  readonly routes?: readonly Route[]
  /** How a scope becomes tasks, beyond the one task of its own. */
  readonly plan?: {
    /** The plugin that does the work, where another can stand in: GraphQL for REST. */
    readonly plugin?: (connection: Settings) => string
    /** Where the repository of a scope is cloned from, without credentials: its git history is collected beside it. */
    readonly cloneUrl?: (scope: AnyScope) => string
  }
}

/** A run on one scope of a connection. */
export interface SourceTask extends EntityTask {
  readonly plugin: PluginSpec
}

export interface Plugin {
  readonly name: string
  readonly title: string
  readonly tables: readonly AnyTable[]
  /** What its tasks may be told, where that does not follow from its scopes. */
  readonly options?: TaskOptions
  /** In the order in which they run. */
  readonly subtasks: readonly Subtask[]
  /** Names of what a task with such options works on alone, besides the scope of a source. */
  readonly leases?: (options: TaskRun['options']) => readonly string[]
  /** Forgets what it keeps of a row of the domain model that stands for a scope, whose data is deleted for good. */
  readonly forget?: (database: Database, scope: { readonly table: string; readonly rowId: string }) => Promise<void>
  /** Of its own, beside those that every source has. */
  readonly routes?: readonly Route[]
  /** What it adds to the plans of projects, beside the task of a scope. */
  readonly plans?: PlanParts
  /** Its tasks are left out of the summary of a run, as DevLake leaves them out. */
  readonly isUnsummarised?: true
  /** Of a data source: what its connections, scopes and scope configs are made of. */
  readonly source?: PluginSpec
  /** Of one that pushes instead of being asked. */
  readonly pushSource?: PushSource
}
