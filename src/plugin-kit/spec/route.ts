/** A route of a plugin, as data: the API checks, describes and guards it like its own routes. */
import type { z } from 'zod'
import type { Role } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import type { HttpRequest, HttpResponse } from '../http/index.ts'
import type { Groups } from './patterns.ts'
import type { Plan } from './plan.ts'
import type { RouteCost, RouteSize } from './route-size.ts'

type Schema = z.ZodType | undefined
type Value<S extends Schema> = S extends z.ZodType ? z.output<S> : undefined

interface RouteRequest<Params extends Schema, Query extends Schema, Body extends Schema> {
  readonly params: Value<Params>
  readonly query: Value<Query>
  readonly body: Value<Body>
}

interface RouteSpec<Params extends Schema, Query extends Schema, Body extends Schema> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly summary: string
  /** Heading in the description of the API; the plugin's name unless another is set. */
  readonly tag?: string
  /** The lowest role that may call it: everywhere, or for the blueprint that `:id` in the path names. */
  readonly least: Role
  readonly reach?: 'everywhere' | 'blueprint'
  readonly size: RouteSize
  readonly cost: RouteCost
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** Schema of the answer; absent: the answer only says that it succeeded. */
  readonly answer?: z.ZodType
  /** Used instead of `answer`, with `runInThread`: it returns rows, which are sent as a file with these columns. */
  readonly csv?: { readonly name: string; readonly columns: readonly string[] }
  /** Statuses of failures that are particular to this route. */
  readonly failures?: readonly number[]
  readonly run?: (request: RouteRequest<Params, Query, Body>, server: RouteServer) => Promise<unknown>
  /** Used instead of `run` to read or make a file: runs in another thread, so that no other request waits. Its cost is heavy. */
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

interface ScopePlace {
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

/** Functions of the server that a route may use in any thread, on behalf of the caller. */
interface ThreadServer {
  readonly database: Database
  /** Writes an audit entry for a change, in the transaction of the change. */
  record(inside: Database, change: Change & { readonly after: unknown }): Promise<void>
  /** Makes a change and its entry in one transaction; `after` is the result of `act`. */
  doRecorded<Result>(change: Change, act: (inside: Database) => Promise<Result>): Promise<Result>
}

export interface RouteServer extends ThreadServer {
  /** Asks the source through a stored connection, as long as the caller waits for the answer. */
  ask<Result>(
    connectionId: number,
    ask: (send: (request: HttpRequest) => Promise<HttpResponse>) => Promise<Result>,
  ): Promise<Result>
  /** Finds the groups of a user's pattern in each text; `name` is the field that holds the pattern. */
  findGroups(pattern: string, name: string, texts: readonly string[]): Promise<Groups>
  /** The marker of the raw rows of a scope. */
  paramsOf(place: ScopePlace): Promise<string>
  /** The newest raw records of a scope, and titles of keys in them that mean nothing by themselves. */
  sampleRecords(
    place: ScopePlace,
    rawTable: string,
  ): Promise<{
    readonly records: readonly { readonly id: number; readonly document: unknown }[]
    readonly titles: ReadonlyMap<string, string>
  }>
  /** The last tasks of all blueprints. */
  lastTasks(): Promise<readonly LastTasks[]>
  changeLastTasks(blueprintId: number, change: (plan: Plan) => Plan): Promise<LastTasks>
}
