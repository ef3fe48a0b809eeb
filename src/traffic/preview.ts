import type { Effect, EffectContext } from './effects/effect.ts'
import { cleanupEffects, prepareEffects, rollbackEffects, stepEffects } from './effects/sequences.ts'
import type { Engine, Request } from './engine.ts'
import { type Action, transitionOf } from './state.ts'
import { planOf, type SwitchRow } from './store.ts'

/** What an action would do, asked of the real API servers with `dryRun=All`; nothing changes and nothing is stored. */
export async function preview(
  engine: Engine,
  row: SwitchRow,
  request: Pick<Request, 'action' | 'acceptLive'>,
): Promise<readonly string[]> {
  const plan = planOf(row)
  transitionOf(row.state, request.action)
  const context: EffectContext = {
    plan,
    outside: await engine.connect(plan),
    row: () => row,
    acceptsLive: request.acceptLive === true,
  }
  const lines: string[] = []
  for (const effect of effectsOf(context, request.action)) {
    if (effect.apply === undefined && effect.name !== 'preflight') continue
    if (
      row.target_group_arn === null &&
      plan.targetGroup.arn === undefined &&
      ['binding', 'attach'].includes(effect.name)
    ) {
      lines.push(`${effect.name}: once the target group exists`)
      continue
    }
    const missing = await effect.missing()
    if (missing !== undefined) await effect.apply?.(true)
    lines.push(`${effect.name}: ${missing === undefined ? 'nothing to do' : `would change, because ${missing}`}`)
  }
  return lines
}

function effectsOf(context: EffectContext, action: Action): readonly Effect[] {
  const { step, verified_at } = context.row()
  if (action === 'prepare') return prepareEffects(context)
  if (action === 'advance')
    return stepEffects(context, Math.min(step + (verified_at === null ? 0 : 1), context.plan.steps.length - 1))
  if (action === 'rollback') return rollbackEffects(context, false)
  if (action === 'cleanup' || action === 'abort')
    return cleanupEffects(context, context.plan.cleanup.currentIngress === 'keep-service' || action === 'abort')
  return []
}
