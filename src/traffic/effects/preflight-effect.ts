import { actionKey } from '../action.ts'
import { refuseErrors } from '../finding.ts'
import { lintLive } from '../lint-live.ts'
import { lintArn } from '../lint-plan.ts'
import type { Ingress } from '../manifests.ts'
import { bindingNamespace, bindingService, type Plan } from '../plan.ts'
import { type Effect, type EffectContext, loadBalancerHostname } from './effect.ts'

export function preflight(context: EffectContext): Effect {
  const { plan, outside, row } = context
  let original: Ingress | undefined
  return {
    name: 'preflight',
    async missing() {
      const { current, target, balancer } = outside
      const [currentIngress, targetIngress, currentService, targetService, actionService, existing] = await Promise.all(
        [
          current.ingress(plan.current.namespace, plan.current.ingress.name),
          target.ingress(plan.target.namespace, plan.target.ingress.name),
          current.service(plan.current.namespace, plan.current.service.name),
          target.service(bindingNamespace(plan), bindingService(plan).name),
          current.service(plan.current.namespace, plan.actionName),
          balancer.targetGroup(plan.targetGroup.name),
        ],
      )
      const hostname = loadBalancerHostname(currentIngress)
      const loadBalancer = hostname === undefined ? undefined : await balancer.loadBalancer(hostname)
      const facts = {
        currentIngress,
        targetIngress,
        currentService,
        targetService,
        actionService,
        loadBalancer,
        targetGroup: existing,
      }
      const wrongArn = existing === undefined ? [] : lintArn(plan, existing.arn)
      refuseErrors('The plan does not fit what is live: it', [...lintLive(plan, facts), ...wrongArn])
      original = currentIngress
      return undefined
    },
    learned: () =>
      row().original_ingress === null && original !== undefined && !isAttached(original, plan)
        ? { original_ingress: JSON.stringify(savedIngress(original)) }
        : {},
  }
}

const isAttached = (ingress: Ingress, plan: Plan): boolean =>
  actionKey(plan.actionName) in (ingress.metadata.annotations ?? {})

/** Without what the API server adds, so that it can be applied again. */
const savedIngress = ({ apiVersion, kind, metadata, spec }: Ingress) => ({
  apiVersion,
  kind,
  metadata: { name: metadata.name, namespace: metadata.namespace, annotations: metadata.annotations ?? {} },
  spec,
})
