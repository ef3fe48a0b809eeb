/** Plans are stored in a separate table, so that they are read only when a plan is shown or run. */

import { UserError } from '../../errors.ts'
import type { Plan, PlanTask } from '../../plugin-kit/spec/plan.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { plans } from '../../system/projects.ts'
import { createReader, openJson, type Problem } from '../sealed.ts'
import { deleteRows, type Ids, insertRow, type Queries, selectRows } from '../store.ts'

type Subject = 'blueprint' | 'pipeline'
export const PLAN_FIELDS = ['plan', 'beforePlan', 'afterPlan'] as const
export type PlanField = (typeof PLAN_FIELDS)[number]

export type StoredPlans = { readonly [Field in PlanField]?: Plan } & { readonly problem?: Problem }

/** In characters of JSON. Longer plans are left out of lists, where fifty of them would come in one answer. */
export const LONGEST_LISTED = 100_000
/**
 * A longer plan is not stored where it is kept only to be shown: it can be made again, or the tasks of the run tell the same.
 * Clients send blueprints back whole, so a shown plan must fit into a request together with the scopes.
 */
export const LONGEST_SHOWN = { blueprint: 1_000_000, pipeline: 4_000_000 } as const

/** Reads plans of up to `most` characters, by the id of their blueprint or pipeline. */
export async function readPlans(
  queries: Queries,
  subject: Subject,
  ids: Ids,
  secrets: Secrets,
  most = Number.MAX_SAFE_INTEGER,
): Promise<Map<number, StoredPlans>> {
  if (most === 0) return new Map()
  const rows = await selectRows(queries, plans, (query) =>
    query.where('subject', '=', subject).where('subject_id', 'in', ids).where('characters', '<=', most),
  )
  const groups = Map.groupBy(rows, ({ subject_id }) => subject_id)
  return new Map(
    [...groups].map(([id, own]) => {
      const reader = createReader()
      const read = own.map(({ field, content }) => [field, reader.read(field, () => openPlan(content, secrets), [])])
      return [id, { ...Object.fromEntries(read), ...reader.problem() } as StoredPlans]
    }),
  )
}

function openPlan(content: string, secrets: Secrets): Plan {
  const plan = openJson(content, secrets)
  const isPlan = Array.isArray(plan) && plan.every((stage) => Array.isArray(stage) && stage.every(isTask))
  if (!isPlan) throw new UserError('The stored plan is damaged.', { status: 500 })
  return plan
}
const isTask = (task: Partial<PlanTask> | null) =>
  typeof task?.plugin === 'string' && task.options !== null && typeof task.options === 'object'

/** Replaces all plans of a blueprint or pipeline. A plan longer than its `most` is not stored. */
export async function writePlans(
  queries: Queries,
  { subject, subject_id }: { readonly subject: Subject; readonly subject_id: number },
  byField: Readonly<Partial<Record<PlanField, { readonly plan: Plan | null; readonly most?: number }>>>,
  { encrypt }: Secrets,
): Promise<void> {
  await deletePlans(queries, subject, subject_id)
  for (const field of PLAN_FIELDS) {
    const { plan = null, most = Number.MAX_SAFE_INTEGER } = byField[field] ?? {}
    const text = plan && jsonWithin(plan, most)
    if (!text) continue
    const row = { subject, subject_id, field, characters: text.length, content: encrypt(text) }
    await insertRow(queries, plans, row)
  }
}

export const deletePlans = (queries: Queries, subject: Subject, subject_id: number): Promise<number> =>
  deleteRows(queries, plans, { subject, subject_id })

/** Returns the plan as JSON, or undefined when that is longer than `most`. Stops at the limit, so that a very long text is never built. */
export function jsonWithin(plan: Plan, most: number): string | undefined {
  let length = 2
  const stages: string[] = []
  for (const stage of plan) {
    const text = JSON.stringify(stage)
    length += text.length + 1
    if (length > most) return undefined
    stages.push(text)
  }
  return `[${stages.join(',')}]`
}
