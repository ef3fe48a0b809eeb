/** A route of a plugin's own, as data: the API checks, describes and guards it as it does its own. */
import type { z } from 'zod'
import type { Role } from '../../config.ts'
import type { Database } from '../../database/database.ts'
import type { HttpRequest, HttpResponse } from '../http/index.ts'
import type { Groups } from './patterns.ts'
import type { Plan } from './plan.ts'
import type { RouteCost, RouteSize } from './route-size.ts'

type Schema = z.ZodType | undefined
type Value<S extends Schema> = S extends z.ZodType ? z.output<S> : undefined

export interface RouteRequest<Params extends Schema, Query extends Schema, Body extends Schema> {
  readonly params: Value<Params>
  readonly query: Value<Query>
  readonly body: Value<Body>
}

export interface RouteSpec<Params extends Schema, Query extends Schema, Body extends Schema> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly summary: string
  /** Heading in the description of the API; the plugin's name unless another is set. */
  readonly tag?: string
  /** The role that whoever asks needs at least: everywhere, or for the blueprint that `:id` of the path names. */
  readonly least: Role
  readonly reach?: 'everywhere' | 'blueprint'
  readonly size: RouteSize
  readonly cost: RouteCost
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** What is given; nothing but a success unless it is set. */
  readonly answer?: z.ZodType
  /** Instead: rows are given, which are sent as a file with these columns. */
  readonly csv?: { readonly name: string; readonly columns: readonly string[] }
  /** Statuses of its own failures. */
  readonly failures?: readonly number[]
  readonly run?: (request: RouteRequest<Params, Query, Body>, server: RouteServer) => Promise<unknown>
  /** Instead, for what reads or makes a file: done whole in a thread, so that nobody waits for it. Its cost is heavy. */
  readonly runInThread?: (request: RouteRequest<Params, Query, Body>, server: ThreadServer) => Promise<unknown>
}

// biome-ignore lint/suspicious/noExplicitAny: a list holds routes of all kinds; `route` has checked each
export type Route = RouteSpec<any, any, any>

export const route = <
  Params extends Schema = undefined,
  Query extends Schema = undefined,
  Body extends Schema = undefined,
>(
  spec: RouteSpec<Params, Query, Body>,
): Route => spec

interface Change {
  readonly action: 'create' | 'update' | 'delete'
  /** Such as `custom field`. */
  readonly subject: string
  readonly key: string
}

export interface ScopePlace {
  readonly plugin: string
  readonly connectionId: number
  readonly scopeId?: string | undefined
}

/** The tasks with which every run of a blueprint ends. */
export interface LastTasks {
  readonly blueprintId: number
  readonly projectName: string
  readonly plan: Plan
}

/** What a route may use of the server wherever it runs, in the name of whoever asks. */
export interface ThreadServer {
  readonly database: Database
  /** Leaves an entry of a change, in its transaction. */
  record(inside: Database, change: Change & { readonly after: unknown }): Promise<void>
  /** Makes a change in a transaction, with its entry; `after` is what `act` gives. */
  doRecorded<Result>(change: Change, act: (inside: Database) => Promise<Result>): Promise<Result>
}

export interface RouteServer extends ThreadServer {
  /** Asks the source by a stored connection, for as long as somebody waits for the answer. */
  ask<Result>(
    connectionId: number,
    ask: (send: (request: HttpRequest) => Promise<HttpResponse>) => Promise<Result>,
  ): Promise<Result>
  /** What a pattern of a user finds in each of some texts; `name` is the field that holds it. */
  findGroups(pattern: string, name: string, texts: readonly string[]): Promise<Groups>
  /** What marks the raw rows of a scope. */
  paramsOf(place: ScopePlace): Promise<string>
  /** The newest raw records of a scope, and what people call keys in them that say nothing by themselves. */
  sampleRecords(
    place: ScopePlace,
    rawTable: string,
  ): Promise<{
    readonly records: readonly { readonly id: number; readonly document: unknown }[]
    readonly titles: ReadonlyMap<string, string>
  }>
  /** Of all blueprints. */
  lastTasks(): Promise<readonly LastTasks[]>
  changeLastTasks(blueprintId: number, change: (plan: Plan) => Plan): Promise<LastTasks>
}
