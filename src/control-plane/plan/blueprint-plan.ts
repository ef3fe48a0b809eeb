import { UserError } from '../../errors.ts'
import type { Plan } from '../../plugin-kit/spec/plan.ts'
import type { UnsavedBlueprint } from '../blueprint-rows.ts'
import type { Blueprint, SyncPolicy } from '../records.ts'
import type { ServiceContext } from '../services.ts'
import { makePlan } from './make-plan.ts'

/** ADVANCED runs as it is written; NORMAL is planned again from what is configured now. */
export async function planOf(
  context: ServiceContext,
  blueprint: UnsavedBlueprint & Pick<Blueprint, 'problem'>,
  flags: Pick<SyncPolicy, 'skipCollectors'>,
): Promise<Plan> {
  requireReadable(blueprint)
  return blueprint.mode === 'ADVANCED' ? blueprint.plan : makePlan(context, blueprint, flags)
}

/** What a plan is made of has to be there: an empty one would be another. */
export function requireReadable(
  { mode, problem }: Pick<Blueprint, 'mode' | 'problem'>,
  replaced: Readonly<Record<string, unknown>> = {},
): void {
  const isNeeded = (name: string) => replaced[name] === undefined && !(name === 'plan' && mode === 'NORMAL')
  if (problem?.fields.some(isNeeded)) throw new UserError(problem.message)
}
