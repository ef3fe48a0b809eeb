import { contextsOf, oneForEachHost } from '../effects/contexts.ts'
import { recordMoved, sharesLeft } from '../effects/dns-record-effects.ts'
import {
  type Effect,
  type EffectContext,
  effectKey,
  liveCurrent,
  loadBalancerHostname,
  ofRoute,
} from '../effects/effect.ts'
import {
  abortEffects,
  cleanupEffects,
  givenUpEffects,
  type IsNeeded,
  namesBackSequences,
  preflightEffects,
  prepareEffects,
  rollbackSequences,
  stepEffects,
} from '../effects/sequences.ts'
import { drivesDns } from '../model/record-sets.ts'
import { type Action, transitionOf } from '../model/state.ts'
import type { Engine, Request } from './engine-types.ts'
import { deletesIngress, neededByOthers, refuseDeletion } from './shared-ingress.ts'
import type { SwitchRow } from './store.ts'
import { checkedPlanOf, planOf } from './stored-plan.ts'

/** Tells what an action would do. The real API servers are asked with `dryRun=All`; nothing changes and nothing is stored. */
export async function preview(
  engine: Pick<Engine, 'connect'> & Partial<Pick<Engine, 'database'>>,
  row: SwitchRow,
  request: Pick<Request, 'action' | 'acceptLive' | 'keepIngress'>,
): Promise<readonly string[]> {
  const plan = request.action === 'rollback' ? checkedPlanOf(row).plan : planOf(row)
  transitionOf(row.state, request.action)
  const contexts = contextsOf(plan, await engine.connect(plan), () => row, {
    overridesDrift: request.acceptLive === true || request.action === 'rollback',
  })
  const groupless = new Set(contexts.filter(isGroupless).map((context) => context.plan.route?.name))
  const deletes = deletesIngress(plan, request)
  if (deletes && engine.database !== undefined)
    for (const context of contexts) await refuseDeletion(engine.database, row.id, context)
  // Several routes may use one Ingress, which is deleted only once.
  const lines: string[] = deletes ? [...new Set(await Promise.all(contexts.map(deletionLine)))] : []
  const isNeeded = engine.database === undefined ? () => false : await neededByOthers(engine.database, row.id)
  for (const effect of effectsOf(contexts, request.action, !deletes, isNeeded)) {
    if (effect.apply === undefined && effect.name !== 'preflight') continue
    if (groupless.has(effect.route) && ['binding', 'attach', 'target-group-attributes'].includes(effect.name)) {
      lines.push(`${effectKey(effect)}: once the target group exists`)
      continue
    }
    const missing = await effect.missing()
    if (missing !== undefined) await effect.apply?.(true)
    lines.push(`${effectKey(effect)}: ${missing === undefined ? 'nothing to do' : `would change, because ${missing}`}`)
  }
  return lines
}

const isGroupless = ({ plan, row }: EffectContext): boolean =>
  row().target_group_arn === null && plan.targetGroup.arn === undefined

/** Describes what disappears together with the Ingress. */
async function deletionLine(context: EffectContext): Promise<string> {
  const { plan } = context
  const hostname = loadBalancerHostname(await liveCurrent(context))
  const isLast = plan.current.ingress.groupName === undefined
  return `Deleting Ingress ${plan.current.namespace}/${plan.current.ingress.name} deletes its rules${isLast ? ' and its load balancer' : `, and its load balancer if no other Ingress is in group ${plan.current.ingress.groupName}`}${hostname === undefined ? '' : ` (${hostname})`}; external-dns also deletes the record of ${plan.dns.hostname}, if it made it for this Ingress`
}

function effectsOf(
  contexts: readonly EffectContext[],
  action: Action,
  keepsIngress: boolean,
  isNeeded: IsNeeded,
): readonly Effect[] {
  const { plan, row } = contexts[0]!
  const { step, verified_at } = row()
  if (action === 'prepare') return [...preflightEffects(contexts), ...prepareEffects(contexts)]
  if (action === 'advance')
    return stepEffects(contexts, Math.min(step + (verified_at === null ? 0 : 1), plan.steps.length - 1))
  if (action === 'rollback') {
    const weights = rollbackSequences(contexts).map(({ effects }) => effects)
    return [...weights, ...namesBackSequences(contexts, false)].flat()
  }
  if (action === 'cleanup') return cleanupEffects(contexts, keepsIngress)
  if (action === 'abort') return [...givenUpEffects(contexts), ...abortEffects(contexts, isNeeded)]
  if (action === 'dns') return oneForEachHost(contexts).flatMap(nextShare)
  return []
}

const nextShare = (context: EffectContext): readonly Effect[] =>
  drivesDns(context.plan)
    ? sharesLeft(context)
        .slice(0, 1)
        .map((share) => ofRoute(recordMoved(context, share), context.plan.route?.name))
    : []
