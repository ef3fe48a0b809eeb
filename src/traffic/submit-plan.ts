import type { Database } from '../database/database.ts'
import { compare } from './diff.ts'
import { TrafficError } from './finding.ts'
import type { Plan } from './plan.ts'
import { createSwitch, findSwitch, hashOf, replacePlan, type SwitchRow } from './store.ts'

/** The switch of a plan: a new draft, the draft that it corrects, or the one under way if the plan is still the same. */
export async function submitPlan(database: Database, plan: Plan, actor: string): Promise<SwitchRow> {
  const row = await findSwitch(database, plan.name)
  if (row === undefined || row.state === 'cleaned-up') return createSwitch(database, plan, actor)
  if (row.plan_hash === hashOf(plan)) return row
  if (row.state === 'draft') return replacePlan(database, row.id, plan, actor)
  const changes = compare(JSON.parse(row.plan), plan, '').map(
    ({ path, before, after }) => `${path}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
  )
  throw new TrafficError(
    'conflict',
    `The plan was edited while its switch ${row.id} is ${row.state}; nothing was applied.\n  ${changes.join('\n  ')}\nPut it back, or roll back, abort and start again with the new plan.`,
  )
}
