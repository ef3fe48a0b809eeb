/** Checks before a deletion. Each one throws with the reason when something is still in use. */
import { sql } from 'kysely'
import { withoutEndSpaces } from '../database/fit.ts'
import { UserError } from '../errors.ts'
import { pipelines } from '../system/pipelines.ts'
import { blueprintConnections, blueprintScopes, blueprints } from '../system/projects.ts'
import { wantedCalculations } from '../system/runs.ts'
import { FINISHED } from './runs/states.ts'
import { type Queries, selectRows } from './store.ts'

/** Carries what prevents the change: blueprints and projects, or scopes. */
export class ConflictError extends UserError {
  readonly data: unknown
  constructor(message: string, data: unknown = null) {
    super(message, { status: 409 })
    this.data = data
  }
}

export interface Used {
  readonly plugin_name: string
  readonly connection_id: number
  readonly scope_id?: string
}

function linksTo(queries: Queries, { plugin_name, connection_id, scope_id }: Used) {
  const name = scope_id === undefined ? blueprintConnections.name : blueprintScopes.name
  const links = queries.selectFrom(name).select('blueprint_id')
  const ofConnection = links.where('plugin_name', '=', plugin_name).where('connection_id', '=', connection_id)
  return scope_id === undefined
    ? ofConnection
    : ofConnection.where(sql.ref('scope_id'), '=', withoutEndSpaces(scope_id))
}

/** Finds the NORMAL blueprints that collect a connection or scope. */
export async function blueprintsUsing(queries: Queries, used: Used) {
  return selectRows(queries, blueprints, (query) =>
    query.where('mode', '=', 'NORMAL').where('id', 'in', linksTo(queries, used)).orderBy('id'),
  )
}

export async function requireUnused(queries: Queries, what: string, used: Used): Promise<void> {
  const users = await blueprintsUsing(queries, used)
  if (users.length === 0) return
  const projects = users.map(({ project_name }) => project_name).filter((name) => name !== '')
  throw new ConflictError(`${what} is in use: take it out of ${users.map(({ name }) => name).join(', ')} first.`, {
    blueprints: users.map(({ name }) => name),
    projects,
  })
}

export async function requireNothingRuns(queries: Queries): Promise<void> {
  const [running] = await selectRows(queries, pipelines, (query) =>
    query.where('status', '=', 'TASK_RUNNING').orderBy('id').limit(1),
  )
  if (running) throw new ConflictError(`Pipeline ${running.id} is running: wait for it, or cancel it.`)
}

export async function requireFinished(queries: Queries, blueprintIds: readonly number[], what: string): Promise<void> {
  if (blueprintIds.length === 0) return
  const calculating = queries
    .selectFrom(wantedCalculations.name)
    .select('pipeline_id')
    .where('blueprint_id', 'in', blueprintIds)
  const [unfinished] = await selectRows(queries, pipelines, (query) =>
    query
      .where(({ or, eb }) => or([eb('blueprint_id', 'in', blueprintIds), eb('id', 'in', calculating)]))
      .where('status', 'not in', FINISHED)
      .orderBy('id')
      .limit(1),
  )
  if (unfinished) {
    throw new ConflictError(`Pipeline ${unfinished.id} of ${what} is not finished: wait for it, or cancel it.`)
  }
}
