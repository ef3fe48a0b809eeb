import type { Database } from '../core.ts'
import { TrafficError } from '../model/finding.ts'
import type { Plan } from '../model/plan.ts'
import { isOver } from '../model/state.ts'
import { compare } from '../render/diff.ts'
import { createSwitch, findSwitch, replacePlan, type SwitchRow } from './store.ts'
import { planColumns, planOf } from './stored-plan.ts'

/** The switch for a plan: a new draft, the draft that it corrects, or the switch under way if its plan is still the same. */
export async function submitPlan(database: Database, plan: Plan, actor: string): Promise<SwitchRow> {
  const row = await findSwitch(database, plan.name)
  if (row === undefined || isOver(row.state)) return createSwitch(database, plan, actor)
  const changes = editsOf(row, plan)
  if (changes.length === 0) return row
  if (row.state === 'draft') return replacePlan(database, row.id, plan, actor)
  refuseEdits(row, changes)
  return row
}

/** A draft to look at, which is not stored. */
export const draftOf = (plan: Plan): SwitchRow => {
  const now = new Date()
  return {
    id: plan.name,
    name: plan.name,
    project: plan.project,
    state: 'draft',
    step: 0,
    version: 0,
    ...planColumns(plan),
    applied_action: null,
    original_ingress: null,
    deleted_ingress: null,
    target_mode_before: null,
    verified_at: null,
    approved_at: null,
    began_at: null,
    dns_confirmed_at: null,
    dns_record: null,
    problem: null,
    told_sequence: 0,
    lease_holder: null,
    lease_until: null,
    created_at: now,
    updated_at: now,
  }
}

/** Lists how a plan differs from the one that its switch was started with. */
export const editsOf = (row: SwitchRow, plan: Plan): readonly string[] =>
  compare(planOf(row), plan, '')
    .filter((change) => !isOldDefault(change))
    .map(({ path, before, after }) => `${path}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`)

/** Until 0.1 a plan that set nothing here was stored with `pause`. */
const isOldDefault = ({ path, before, after }: { readonly path: string; before: unknown; after: unknown }): boolean =>
  path.endsWith('.onFail') && before === 'pause' && after === undefined

export function refuseEdits(row: SwitchRow, changes: readonly string[]): void {
  if (changes.length === 0) return
  throw new TrafficError(
    'conflict',
    `The plan was edited while its switch ${row.id} is ${row.state}; nothing was applied.\n  ${changes.join('\n  ')}\nPut it back, or roll back, abort and start again with the new plan.`,
  )
}
