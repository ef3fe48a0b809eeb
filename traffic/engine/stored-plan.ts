import { createHash } from 'node:crypto'
import { TrafficError } from '../model/finding.ts'
import { type Plan, readPlan } from '../model/plan.ts'

/** The columns in which a switch keeps its plan. */
interface StoredPlan {
  readonly id: string
  readonly plan: string
  readonly plan_hash: string
  readonly checked_plan: string | null
}

const hashOf = (plan: Plan): string => createHash('sha256').update(JSON.stringify(plan)).digest('hex')

export const planColumns = (plan: Plan) => ({
  plan: JSON.stringify(plan),
  plan_hash: hashOf(plan),
  checked_plan: JSON.stringify(plan),
  target_group_arn: 'routes' in plan ? null : (plan.targetGroup.arn ?? null),
  routes: null,
})

const isUnedited = ({ plan, plan_hash }: StoredPlan): boolean =>
  // Compares the text and not the plan: a newer Weir knows more fields, whose defaults nobody wrote.
  createHash('sha256').update(plan).digest('hex') === plan_hash

const readStored = (text: string | null): Plan | undefined => {
  try {
    return readPlan(JSON.parse(text ?? '')).plan
  } catch {
    return undefined
  }
}

/** The stored plan. If it was edited outside Weir it is refused, because what was checked is not what would be applied. */
export function planOf(row: StoredPlan): Plan {
  const plan = readStored(row.plan)
  if (plan !== undefined && isUnedited(row)) return plan
  throw new TrafficError(
    'conflict',
    `The stored plan of ${row.id} was changed by hand; nothing was applied. Restore it, or roll back and start a new switch.`,
  )
}

/** The plan that was checked, for rolling back and for display, whatever was done to the stored one since. */
export function checkedPlanOf(row: StoredPlan): { readonly plan: Plan; readonly isEdited: boolean } {
  const isEdited = !isUnedited(row)
  const plan = isEdited ? (readStored(row.checked_plan) ?? readStored(row.plan)) : readStored(row.plan)
  if (plan !== undefined) return { plan, isEdited }
  throw new TrafficError(
    'conflict',
    `The stored plan of ${row.id} cannot be read. Put ${row.id} back into the table _weir_traffic_switches from a backup, or set the annotation of the Ingress by hand: npx weir traffic render PLAN --phase rollback`,
  )
}
