import type { EffectContext } from '../effects/effect.ts'
import { rulePicture, weightCounts } from '../effects/rule-effects.ts'
import { TrafficError } from '../model/finding.ts'
import type { State } from '../model/state.ts'

/** States in which some routes may have moved and others not. */
const BETWEEN: ReadonlySet<State> = new Set(['shifting', 'paused', 'rolling-back'])

async function describeRoute(context: EffectContext): Promise<string> {
  const { name } = context.plan.route!
  try {
    const picture = await rulePicture(context)
    const weights = Object.keys(weightCounts(picture))
    return `${name} ${weights.join(' and ') || 'without the target group'}`
  } catch {
    return `${name} cannot be read`
  }
}

/** Adds to the failure of one route what all routes do at that moment. */
export async function withRoutes(contexts: readonly EffectContext[], state: State, error: unknown): Promise<unknown> {
  const isRefusal = error instanceof TrafficError && error.trouble === 'gate'
  if (contexts.length === 1 || !BETWEEN.has(state) || isRefusal || !(error instanceof Error)) return error
  error.message += `\nRoutes now: ${(await Promise.all(contexts.map(describeRoute))).join(', ')}.`
  return error
}
