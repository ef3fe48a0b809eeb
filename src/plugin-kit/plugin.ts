/** A plugin is data: REST routes, forms, docs and subtasks are derived from it, and written once for all plugins. */
import type { z } from 'zod'
import type { Row, Table, TableRow } from '../database/table.ts'
import type { DomainType, Entity } from './entity.ts'
import type { ApiClient, Credential, HttpRequest, RateLimits } from './http/index.ts'
import type { IdOf } from './id-of.ts'
import type { CheckConnection, RemoteScopes } from './remote-scopes.ts'
import type { TokenRotation } from './rotating-tokens.ts'
import type { FoundName, NameKinds, NameSample, RuleSuggestion } from './rule-names.ts'
import type { SourceTask } from './source-task.ts'

/** One setting: validated by the api, drawn by the ui, documented in docs, stored as a column. */
export type Field = DescribedField &
  (
    | { readonly kind: 'string' | 'secret' | 'url' | 'integer' | 'boolean' | 'regex' | 'choice' | 'strings' | 'time' }
    /** What the JSON may be; its messages go after the name of the field. */
    | { readonly kind: 'json'; readonly schema: z.ZodType }
  )
interface DescribedField {
  readonly label: string
  readonly help?: string
  /** Stored when nothing is given. */
  readonly default?: unknown
  /** What a form starts with, and what holds for scopes without a scope config; the API does not put it in. */
  readonly suggestion?: unknown
  /** The suggestion is only for those who want such a thing: never assumed. */
  readonly isOnRequest?: boolean
  /** Fields of one heading are drawn together. */
  readonly panel?: string
  /** A refresh token that use replaces: see rotating-tokens.ts. */
  readonly isRotated?: boolean
  /** Kept by the product itself: shown, never asked for. */
  readonly isManaged?: boolean
  readonly isOptional?: boolean
  /** Belongs to this choice of the field `authMethod`: needed with it, without meaning beside another. */
  readonly authMethod?: string
  readonly choices?: readonly string[]
  /** Longest value; unlimited text when absent. */
  readonly size?: number
  /** Kinds of names, of `scopeConfig.names`, that the rule speaks of. */
  readonly names?: readonly string[]
  /** What such names look like where the suggestion does not match them: for suggestions alone. */
  readonly looksLike?: string
  /** Where there are names of this kind, another rule says it more exactly, and this one can stay empty. */
  readonly needlessWith?: string
  /** The rule chooses among what the rule of this field matches. */
  readonly within?: string
  /** An empty rule matches everything. */
  readonly isAllWhenEmpty?: boolean
  /** Text of several lines, such as a key. */
  readonly isMultiline?: boolean
}
export type Fields = Readonly<Record<string, Field>>
export type Settings = Readonly<Record<string, any>>

/** How the subtasks of a plugin are spelt: `collectPullRequests` or `Collect Pull Requests`. */
export type Spelling = 'camel' | 'title'

export interface ScopeSpec {
  readonly table: Table<any>
  readonly title: string
  /** Task option → column of the scope table that it is looked up by. */
  readonly options: Readonly<Record<string, string>>
  /** What marks raw rows of a scope; field order and letter case are part of the format. */
  readonly params: (connectionId: number, scope: any) => Record<string, unknown>
  /** The scope's own rows in the domain model: a repository is a repos row and a boards row. */
  readonly convert?: (scope: Row<any>, idOf: IdOf) => readonly TableRow[]
  /** How the source is asked what could be collected. */
  readonly remote?: RemoteScopes
  /** A cheap request about the scope itself: when it is refused, the scope is gone, and not only one of its lists. */
  readonly check?: (scope: any) => HttpRequest
}

/** Rows that many records make, such as people: they stay as long as a row of these tables refers to them. */
export interface Referred {
  readonly table: Table<any>
  /** Only rows of the same scope count. */
  readonly isScoped?: boolean
  readonly by: readonly Reference[]
}

export interface Reference {
  readonly table: Table<any>
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

export interface PluginSpec {
  readonly name: string
  readonly title: string
  /** What it knows, in a sentence for those who choose. */
  readonly about?: string
  readonly spelling: Spelling
  /** The plugin whose connections and scope configs it uses, where it has none of its own. */
  readonly settingsOf?: PluginSpec
  readonly connection: {
    readonly fields: Fields
    readonly endpoint: string
    /** What the credentials must be allowed to do, a line for each kind of them; stands in docs/sources.md. */
    readonly rights?: readonly string[]
    /** Addresses of further servers that belong to a connection, such as one for uploads or for builds. */
    readonly hosts?: (settings: Settings) => readonly string[]
    /** What requests are signed with; several are pooled. Default: the comma separated `token`. */
    readonly credentials?: (settings: Settings) => readonly Credential[]
    /** For sources whose refresh tokens rotate: how new ones are asked for. `fields` then has the `rotatingFields`. */
    readonly rotation?: TokenRotation
    /** The headers that carry a credential. Default: `Authorization: Bearer`. */
    readonly sign?: (credential: string, settings: Settings) => Readonly<Record<string, string>>
    readonly headers?: Readonly<Record<string, string>>
    readonly limits?: RateLimits
    /** A cheap request that proves that a connection works. */
    readonly test?: HttpRequest
    /** Whether its answer is one that only this source gives; without it, any object will do. */
    readonly knows?: (body: any) => boolean
    /** Finds out more than `test` can, such as what each token may do; asked instead of it. */
    readonly check?: CheckConnection
    /** What collectors need to know of the server, such as its version; asked once a task. */
    readonly probe?: (get: (path: string) => Promise<any>) => Promise<unknown>
  }
  readonly scope: ScopeSpec
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
  readonly referred?: readonly Referred[]
  /** Keys in raw records that say nothing by themselves, such as customfield_10024: the table with their titles. */
  readonly keyTitles?: { readonly table: Table<any>; readonly key: string; readonly title: string }
  /** Looks at the source before and after everything else. */
  readonly extra?: { readonly first: readonly ExtraStep[]; readonly last: readonly ExtraStep[] }
  /** How a scope becomes tasks, beyond the one task of its own. */
  readonly plan?: {
    /** The plugin that does the work, where another can stand in: GraphQL for REST. */
    readonly plugin?: (connection: Settings) => string
    /** Where the repository of a scope is cloned from, without credentials: its git history is collected beside it. */
    readonly cloneUrl?: (scope: any) => string
  }
}
