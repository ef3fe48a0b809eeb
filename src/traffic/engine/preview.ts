import { recordMoved, sharesLeft } from '../effects/dns-record-effects.ts'
import { type Effect, type EffectContext, liveCurrent, loadBalancerHostname } from '../effects/effect.ts'
import { abortEffects, cleanupEffects, prepareEffects, rollbackEffects, stepEffects } from '../effects/sequences.ts'
import { drivesDns } from '../model/record-sets.ts'
import { type Action, transitionOf } from '../model/state.ts'
import type { Engine, Request } from './engine-types.ts'
import { refuseDeletion } from './shared-ingress.ts'
import type { SwitchRow } from './store.ts'
import { checkedPlanOf, planOf } from './stored-plan.ts'

/** What an action would do, asked of the real API servers with `dryRun=All`; nothing changes and nothing is stored. */
export async function preview(
  engine: Pick<Engine, 'connect'> & Partial<Pick<Engine, 'database'>>,
  row: SwitchRow,
  request: Pick<Request, 'action' | 'acceptLive' | 'keepIngress'>,
): Promise<readonly string[]> {
  const plan = request.action === 'rollback' ? checkedPlanOf(row).plan : planOf(row)
  transitionOf(row.state, request.action)
  const context: EffectContext = {
    plan,
    outside: await engine.connect(plan),
    row: () => row,
    overridesDrift: request.acceptLive === true || request.action === 'rollback',
    overridden: [],
  }
  const deletes =
    request.action === 'cleanup' && plan.cleanup.currentIngress === 'delete-ingress' && request.keepIngress !== true
  if (deletes && engine.database !== undefined) await refuseDeletion(engine.database, row.id, context)
  const lines: string[] = deletes ? [await deletionLine(context)] : []
  for (const effect of effectsOf(context, request.action, !deletes)) {
    if (effect.apply === undefined && effect.name !== 'preflight') continue
    if (
      row.target_group_arn === null &&
      plan.targetGroup.arn === undefined &&
      ['binding', 'attach', 'target-group-attributes'].includes(effect.name)
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

/** What goes with the Ingress. */
async function deletionLine(context: EffectContext): Promise<string> {
  const { plan } = context
  const hostname = loadBalancerHostname(await liveCurrent(context))
  const isLast = plan.current.ingress.groupName === undefined
  return `Deleting Ingress ${plan.current.namespace}/${plan.current.ingress.name} deletes its rules${isLast ? ' and its load balancer' : `, and its load balancer if no other Ingress is in group ${plan.current.ingress.groupName}`}${hostname === undefined ? '' : ` (${hostname})`}; external-dns also deletes the record of ${plan.dns.hostname}, if it made it for this Ingress`
}

function effectsOf(context: EffectContext, action: Action, keepsIngress: boolean): readonly Effect[] {
  const { step, verified_at } = context.row()
  if (action === 'prepare') return prepareEffects(context)
  if (action === 'advance')
    return stepEffects(context, Math.min(step + (verified_at === null ? 0 : 1), context.plan.steps.length - 1))
  if (action === 'rollback') return rollbackEffects(context, false)
  if (action === 'cleanup') return cleanupEffects(context, keepsIngress)
  if (action === 'abort') return abortEffects(context)
  if (action === 'dns' && drivesDns(context.plan))
    return sharesLeft(context)
      .slice(0, 1)
      .map((share) => recordMoved(context, share))
  return []
}
