import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { readByKeys } from '../../database/pieces.ts'
import type { Plan, PlanTask } from '../../plugin-kit/spec/plan.ts'
import { fingerprint } from '../../secrets/secrets.ts'
import { tasks } from '../../system/pipelines.ts'
import { taskProgress } from '../../system/runs.ts'
import type { Assumption, PlanPreview } from '../records.ts'
import type { Queries } from '../store.ts'
import { jsonWithin, LONGEST_SHOWN } from './stored-plans.ts'
import { taskTitle } from './task-title.ts'

type TaskEstimate = PlanPreview['tasks'][number]

/** A fingerprint that is equal for tasks that do the same work on the same scope. */
export const scopeMark = ({ plugin, options, subtasks }: PlanTask): string =>
  fingerprint([plugin, options, subtasks ?? []])

/** The number of recent runs of other scopes that are averaged to estimate a scope that never ran. */
const SIMILAR = 20

interface PastRun {
  readonly id: number
  readonly requests: number
  readonly spent_seconds: number
}

/** The newest completed runs of one scope, or of any scope of a plugin. */
export async function pastRuns(
  { kysely }: Database,
  where: { readonly scope_mark: string } | { readonly plugin: string },
  limit: number,
): Promise<PastRun[]> {
  const [column, value] = Object.entries(where)[0] as ['scope_mark' | 'plugin', string]
  const query = completed(kysely).where(`${taskProgress.name}.${column}`, '=', value)
  return query.orderBy('id', 'desc').limit(limit).execute()
}

const completed = (kysely: Queries) =>
  kysely
    .selectFrom(taskProgress.name)
    .innerJoin(tasks.name, `${tasks.name}.id`, `${taskProgress.name}.task_id`)
    .select([
      `${tasks.name}.id as id`,
      `${taskProgress.name}.scope_mark as scope_mark`,
      `${taskProgress.name}.requests as requests`,
      `${tasks.name}.spent_seconds as spent_seconds`,
    ])
    .where(`${tasks.name}.status`, '=', 'TASK_COMPLETED')

/** The newest completed run of each scope, by its mark. */
async function lastRuns({ kysely }: Database, marks: Iterable<string>): Promise<Map<string, PastRun>> {
  const rows = await readByKeys(marks, async (piece) => {
    const newest = completed(kysely)
      .clearSelect()
      .select(sql<number>`max(${sql.ref(`${tasks.name}.id`)})`.as('id'))
    const ids = newest.where('scope_mark', 'in', piece).groupBy('scope_mark')
    return completed(kysely).where(`${tasks.name}.id`, 'in', ids).execute()
  })
  return new Map(rows.map((row) => [row.scope_mark, row]))
}

const mean = (values: readonly number[]): number =>
  Math.round(values.reduce((sum, each) => sum + each, 0) / values.length)
const sum = (values: readonly (number | null)[]): number | null =>
  values.some((value) => value === null) ? null : values.reduce<number>((total, value) => total + (value ?? 0), 0)
const most = (values: readonly (number | null)[]): number | null =>
  values.some((value) => value === null) ? null : Math.max(0, ...values.map((value) => value ?? 0))

export async function previewPlan(
  database: Database,
  plan: Plan,
  assumptions: readonly Assumption[],
): Promise<PlanPreview> {
  const marks = new Map(plan.flat().map((task) => [task, scopeMark(task)]))
  const last = await lastRuns(database, marks.values())
  const plugins = new Set(plan.flat().map(({ plugin }) => plugin))
  const similar = new Map<string, readonly PastRun[]>()
  for (const plugin of plugins) similar.set(plugin, await pastRuns(database, { plugin }, SIMILAR))
  const stages = plan.map((stage, row) =>
    stage.map((task, column): TaskEstimate => {
      const own = last.get(marks.get(task) as string)
      const place = { stage: row + 1, column: column + 1, plugin: task.plugin, title: taskTitle(task) }
      return { ...place, ...estimate(own, similar.get(task.plugin) ?? []) }
    }),
  )
  const all = stages.flat()
  return {
    plan: jsonWithin(plan, LONGEST_SHOWN.pipeline) === undefined ? [] : plan,
    tasks: all,
    requests: sum(all.map(({ requests }) => requests)),
    seconds: sum(stages.map((stage) => most(stage.map(({ seconds }) => seconds)))),
    assumptions,
  }
}

function estimate(
  last: PastRun | undefined,
  similar: readonly PastRun[],
): Pick<TaskEstimate, 'requests' | 'seconds' | 'basis'> {
  if (last) return { requests: last.requests, seconds: last.spent_seconds, basis: 'last run' }
  if (similar.length === 0) return { requests: null, seconds: null, basis: 'unknown' }
  return {
    requests: mean(similar.map(({ requests }) => requests)),
    seconds: mean(similar.map(({ spent_seconds }) => spent_seconds)),
    basis: 'similar scopes',
  }
}
