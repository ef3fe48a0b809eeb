import { decimalOf } from '../../basics/decimal.ts'
import { UserError } from '../../errors.ts'
import type { Plugin } from '../../plugin-kit/spec/plugin.ts'
import { planOf } from '../plan/blueprint-plan.ts'
import { parsePlan } from '../plan/parse-plan.ts'
import { stagesOf } from '../plan/stages.ts'
import type { Blueprint, BlueprintConnection } from '../records.ts'
import type { ServiceContext } from '../services.ts'
import { unknownPlugin } from '../sources.ts'
import { isOfTrial } from '../store.ts'
import type { UnsavedBlueprint } from './blueprint-rows.ts'
import { checkSchedule } from './cron.ts'

/** A date in year 1 means "not set". */
const isZero = (moment: Date | null) => moment !== null && moment.getUTCFullYear() <= 1

/** Returns the blueprint as it is stored: checked, complete, with normalised values and its plan. */
export async function checkBlueprint(context: ServiceContext, blueprint: UnsavedBlueprint): Promise<UnsavedBlueprint> {
  const { plugins } = context
  const name = blueprint.name.trim()
  if (name === '') throw new UserError('name is missing: give the blueprint one.')
  if (!['NORMAL', 'ADVANCED'].includes(blueprint.mode)) throw new UserError('mode must be NORMAL or ADVANCED.')
  if (blueprint.timeAfter && blueprint.timeAfter > new Date()) {
    throw new UserError('timeAfter lies in the future: nothing would be collected. Choose an earlier date.')
  }
  const isManual = blueprint.isManual || blueprint.cronConfig.trim().toLowerCase() === 'manual'
  if (!isManual) checkSchedule(blueprint.cronConfig)
  const complete = {
    ...blueprint,
    name,
    isManual,
    timeAfter: isZero(blueprint.timeAfter) ? null : blueprint.timeAfter,
    beforePlan: blueprint.beforePlan && parsePlan(plugins, blueprint.beforePlan, 'beforePlan'),
    afterPlan: blueprint.afterPlan && parsePlan(plugins, blueprint.afterPlan, 'afterPlan'),
    connections: blueprint.connections.map((each) => checkConnection(plugins, blueprint.mode, each)),
  }
  if (complete.mode === 'NORMAL') {
    // Clients send the plan back. It is computed again, but an input that is not a plan is still refused.
    stagesOf(complete.plan)
    return { ...complete, plan: await planOf(context, complete, complete) }
  }
  const plan = parsePlan(plugins, complete.plan)
  if (plan.length === 0) throw new UserError('plan is empty: give it at least one stage.')
  return { ...complete, plan }
}

function checkConnection(
  plugins: readonly Plugin[],
  mode: Blueprint['mode'],
  { pluginName, scopes, ...connection }: BlueprintConnection,
): BlueprintConnection {
  const { connectionId: given } = connection
  const connectionId = isOfTrial(given) ? given : decimalOf(given)
  if (connectionId === undefined) throw new UserError(`connectionId of ${pluginName} must be a whole number.`)
  const plugin = plugins.find(({ name }) => name === pluginName)
  if (!plugin) throw unknownPlugin(plugins, String(pluginName), 400)
  const isTakenWhole = plugin.pushSource !== undefined || plugin.source?.isTakenWhole
  if (mode === 'NORMAL' && !scopes?.length && !isTakenWhole) {
    throw new UserError(`Connection ${connectionId} of ${pluginName} has no scopes: choose some, or leave it out.`)
  }
  const ids = (scopes ?? []).map(({ scopeId }) => ({ scopeId: String(scopeId) }))
  return { pluginName, connectionId, scopes: ids }
}
