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

interface ScopeSpec {
  readonly table: AnyTable
  readonly title: string
  /** Column with the name by which people know a scope; default: `full_name`, or `name`. */
  readonly titleColumn?: string
  /** Task option → column of the scope table that it is looked up by. */
  readonly options: Readonly<Record<string, string>>
  /** Further options, for plans that contain everything about a scope, so that it need not be stored. */
  readonly toldBy?: Readonly<Record<string, string>>
  /** Tasks may name no scope, as in DevLake. They then see only data of the connection as a whole. */
  readonly isOptional?: boolean
  /**
   * The marker of the raw rows of a scope; field order and letter case are part of the format. `options` are those of the task,
   * which may contain everything about the scope (`toldBy`).
   */
  readonly params: (connectionId: number, scope: AnyScope, options?: TaskRun['options']) => Record<string, unknown>
  /** Asks the source which scopes can be collected. */
  readonly remote?: RemoteScopes
  /** A cheap request about the scope itself. If it is refused, the whole scope is gone, and not only one of its lists. */
  readonly check?: (scope: AnyScope) => ScopeCheck
}

export interface ScopeCheck extends HttpRequest {
  /** Reads what the answer says about the scope, if the answer is about more than that. */
  readonly finds?: (body: RawRecord) => {
    readonly isThere: boolean
    /** A sentence that says why its lists are refused although it exists. */
    readonly remark?: string
  }
}

/** Rows that are made from many records, such as people. They stay as long as a row of these tables refers to them. */
export interface Referred {
  readonly table: AnyTable
  /** Only rows of the same scope count. */
  readonly isScoped?: boolean
  readonly by: readonly Reference[]
}

interface Reference {
  readonly table: AnyTable
  /** Column of the table that is referred to → column of this one. */
  readonly columns: Readonly<Record<string, string>>
}

/** A subtask that no entity describes. */
export interface ExtraStep {
  readonly name: string
  readonly domainTypes: readonly DomainType[]
  /** Returns the number of records it looked at. */
  readonly run: (task: SourceTask, client: ApiClient) => Promise<number>
}

/** A subtask that completes rows of one tool table from other tables, before they are converted. */
export interface CompletionStep {
  readonly name: string
  readonly domainTypes: readonly DomainType[]
  readonly table: AnyTable
  readonly reads: readonly AnyTable[]
  /** Gives the stamp to rows that it changes, so that incremental conversions find them; returns their number. */
  readonly run: (task: SourceTask, stamp: Date) => Promise<number>
}

export interface PluginSpec {
  readonly name: string
  readonly title: string
  /** A sentence about its data, for those who choose a plugin. */
  readonly about?: string
  readonly spelling: Spelling
  /** The plugin that it works for, whose connections, scopes and scope configs it uses. Nothing else makes two plugins related. */
  readonly settingsOf?: PluginSpec
  readonly connection: {
    readonly fields: Fields
    readonly endpoint: string
    /** The permissions that credentials need, a line for each kind of credential; shown in docs/sources.md. */
    readonly rights?: readonly string[]
    /** Further fields, none of them secret, that requests need; they are in `connection` of the context. */
    readonly facts?: readonly string[]
    /** Addresses of further servers that belong to a connection, such as one for uploads or for builds. */
    readonly hosts?: (settings: Settings) => readonly string[]
    /** The credentials that requests are signed with; several are pooled. Default: the comma separated `token`. */
    readonly credentials?: (settings: Settings) => readonly Credential[]
    /** For sources whose refresh tokens rotate: how to ask for new ones. `fields` then has the `rotatingFields`. */
    readonly rotation?: TokenRotation
    /** The headers that carry a credential. Default: `Authorization: Bearer`. */
    readonly sign?: (credential: string, settings: Settings) => Readonly<Record<string, string>>
    /** The user name with which git clones, if it is not `username`. */
    readonly cloneUser?: (settings: Settings) => string
    readonly headers?: Readonly<Record<string, string>>
    /** For sources that answer wrong credentials with a sign-in page and a status of success. */
    readonly asksToSignIn?: (response: HttpResponse) => boolean
    readonly limits?: RateLimits
    /** A cheap request that proves that a connection works. */
    readonly test?: HttpRequest
    /** Tells whether the answer is one that only this source gives; without this function, any object is accepted. */
    readonly knows?: (body: RawRecord) => boolean
    /** Finds out more than `test` can, such as the permissions of each token; used instead of `test`. */
    readonly check?: CheckConnection
    /** Asks for facts about the server that collectors need, such as its version; called once per task. */
    readonly probe?: (get: (path: string) => Promise<RawRecord>) => Promise<unknown>
  }
  readonly scope: ScopeSpec
  /** A blueprint may have a connection without scopes. */
  readonly isTakenWhole?: true
  readonly scopeConfig: {
    readonly fields: Fields
    /** Prepares stored settings for entities, for example compiles patterns; throws a UserError if they are wrong. */
    readonly prepare: (settings: Settings) => unknown
    /** Names that rules refer to, by kind, as extraction stored them. */
    readonly names?: NameKinds
    /** Asks the source for some of these names before anything is stored. */
    readonly samples?: readonly NameSample[]
    /** Suggests rules that are not patterns, from the names that were found. */
    readonly suggest?: (names: ReadonlyMap<string, readonly FoundName[]>) => readonly RuleSuggestion[]
  }
  readonly entities: readonly Entity[]
  /**
   * Raw tables, without `_raw_`, that DevLake's plugin of this name fills and this plugin does not. A migrated DevLake database
   * has rows that are marked by them.
   */
  readonly formerRaws?: readonly string[]
  /** Deliveries (webhooks) that the source sends when something changes. */
  readonly deliveries?: DeliverySpec
  readonly referred?: readonly Referred[]
  /** The table with titles of keys in raw records that mean nothing by themselves, such as customfield_10024. */
  readonly keyTitles?: { readonly table: AnyTable; readonly key: string; readonly title: string }
  /** Subtasks that ask the source before and after everything else. */
  readonly extra?: { readonly first: readonly ExtraStep[]; readonly last: readonly ExtraStep[] }
  readonly completions?: readonly CompletionStep[]
  /** Routes beyond those that every source has. */
  readonly routes?: readonly Route[]
  /** Tasks of a scope beyond its one own task. */
  readonly plan?: {
    /** The plugin that does the work, if another one can replace this one: GraphQL for REST. */
    readonly plugin?: (connection: Settings) => string
    /** The address to clone the repository of a scope from, without credentials. Its git history is collected too. */
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
  /** Options of its tasks, if they do not follow from its scopes. */
  readonly options?: TaskOptions
  /** The subtasks in the order in which they run. */
  readonly subtasks: readonly Subtask[]
  /** Names of further things, besides the scope of a source, that a task with such options must work on alone. */
  readonly leases?: (options: TaskRun['options']) => readonly string[]
  /** Deletes what the plugin stores about a domain row that stands for a scope, when the data of that scope is deleted for good. */
  readonly forget?: (database: Database, scope: { readonly table: string; readonly rowId: string }) => Promise<void>
  /** Routes beyond those that every source has. */
  readonly routes?: readonly Route[]
  /** Tasks that it adds to the plans of projects, besides the task of a scope. */
  readonly plans?: PlanParts
  /** Its tasks are left out of the summary of a run, as DevLake leaves them out. */
  readonly isUnsummarised?: true
  /** For a data source: the description of its connections, scopes and scope configs. */
  readonly source?: PluginSpec
  /** For a source that pushes instead of being asked. */
  readonly pushSource?: PushSource
}
