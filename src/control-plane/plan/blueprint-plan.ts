import { UserError } from '../../errors.ts'
import type { Plan } from '../../plugin-kit/spec/plan.ts'
import type { UnsavedBlueprint } from '../blueprints/blueprint-rows.ts'
import type { Blueprint, SyncPolicy } from '../records.ts'
import type { ServiceContext } from '../services.ts'
import { makePlan } from './make-plan.ts'

/** An ADVANCED blueprint runs its plan as written. The plan of a NORMAL one is made again from the current configuration. */
export async function planOf(
  context: ServiceContext,
  blueprint: UnsavedBlueprint & Pick<Blueprint, 'problem'>,
  flags: Pick<SyncPolicy, 'skipCollectors'>,
): Promise<Plan> {
  requireReadable(blueprint)
  return blueprint.mode === 'ADVANCED' ? blueprint.plan : makePlan(context, blueprint, flags)
}

/** Throws when a stored part that the plan needs cannot be read. Treating it as empty would give another plan. */
export function requireReadable(
  { mode, problem }: Pick<Blueprint, 'mode' | 'problem'>,
  replaced: Readonly<Record<string, unknown>> = {},
): void {
  const isNeeded = (name: string) => replaced[name] === undefined && !(name === 'plan' && mode === 'NORMAL')
  if (problem?.fields.some(isNeeded)) throw new UserError(problem.message)
}
