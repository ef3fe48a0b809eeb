import { lintGuards } from '../lint/guards.ts'
import { type LiveFacts, lintLive } from '../lint/live.ts'
import { actionKey } from '../model/action.ts'
import { type Finding, refuseErrors } from '../model/finding.ts'
import { MULTI_CLUSTER, savedIngress } from '../model/ingress.ts'
import type { Ingress } from '../model/manifests.ts'
import { bindingNamespace, bindingService, type RoutePlan } from '../model/plan.ts'
import { inRoute } from '../model/routes.ts'
import { lintArn } from '../model/target-group-arn.ts'
import { currentGroup } from './balancer-effects.ts'
import { recordFindings } from './dns-record-effects.ts'
import { type Effect, type EffectContext, liveCurrent, loadBalancerHostname } from './effect.ts'

/** Reads from the clusters and AWS everything that a plan touches. */
export async function readFacts(context: EffectContext): Promise<LiveFacts> {
  const { plan, outside } = context
  const { current, target, balancer } = outside
  const [currentIngress, targetIngress, currentService, targetService, actionService, existing] = await Promise.all([
    current.ingress(plan.current.namespace, plan.current.ingress.name),
    target.ingress(plan.target.namespace, plan.target.ingress.name),
    current.service(plan.current.namespace, plan.current.service.name),
    target.service(bindingNamespace(plan), bindingService(plan).name),
    current.service(plan.current.namespace, plan.actionName),
    balancer.targetGroup(plan.targetGroup.name),
  ])
  const hostname = loadBalancerHostname(currentIngress)
  const loadBalancer = hostname === undefined ? undefined : await balancer.loadBalancer(hostname)
  return {
    currentIngress,
    targetIngress,
    currentService,
    targetService,
    actionService,
    loadBalancer,
    targetGroup: existing,
    currentGroup: await currentGroup(context),
  }
}

/** Finds everything in which a route does not fit what is live. */
export async function lintFacts(context: EffectContext, facts: LiveFacts): Promise<readonly Finding[]> {
  const { plan, outside } = context
  const { currentIngress, targetIngress, targetGroup } = facts
  const inGit = currentIngress === undefined ? undefined : await outside.git?.findings(currentIngress, targetIngress)
  const wrongArn = targetGroup === undefined ? [] : lintArn(plan, targetGroup.arn)
  return [
    ...inRoute(plan, [...lintLive(plan, facts), ...wrongArn]),
    ...(inGit ?? []),
    ...(await recordFindings(context)),
  ]
}

export function preflight(context: EffectContext): Effect {
  const { plan, row } = context
  let original: Ingress | undefined
  let target: Ingress | undefined
  return {
    name: 'preflight',
    async missing() {
      const facts = await readFacts(context)
      refuseErrors('The plan does not fit what is live: it', await lintFacts(context, facts))
      original = facts.currentIngress
      target = facts.targetIngress
      return undefined
    },
    learned: () => ({
      ...(row().original_ingress === null && original !== undefined && !isAttached(original, plan)
        ? { original_ingress: JSON.stringify(savedIngress(original)) }
        : {}),
      ...(target === undefined || modeOf(target) === 'true' ? {} : { target_mode_before: modeOf(target) }),
    }),
  }
}

/** Checks the guards of the route again, because they may have been added since the switch was prepared. */
export function guards(context: EffectContext): Effect {
  const { plan, outside } = context
  return {
    name: 'guards',
    async missing() {
      const [ingress, service] = await Promise.all([
        liveCurrent(context),
        outside.current.service(plan.current.namespace, plan.current.service.name),
      ])
      refuseErrors('What guards the route now', inRoute(plan, lintGuards(plan, ingress, service)))
      return undefined
    },
  }
}

const modeOf = ({ metadata }: Ingress): string => String(metadata.annotations?.[MULTI_CLUSTER] ?? 'absent').slice(0, 32)

const isAttached = (ingress: Ingress, plan: RoutePlan): boolean =>
  actionKey(plan.actionName) in (ingress.metadata.annotations ?? {})
