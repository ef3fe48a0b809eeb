/** What a switch does to the Ingress of the cluster that gets the traffic. */
import { ingressOfSides, MULTI_CLUSTER, patchOf, sidesOnSame } from '../model/ingress.ts'
import type { Ingress } from '../model/manifests.ts'
import type { Effect, EffectContext } from './effect.ts'

/** Names the switch that made an Ingress, so that only its own abort removes it. */
const CREATED_BY = 'weir-traffic/created-by'

/** An existing Ingress gets one annotation; a missing one is made from the plan. */
export function targetIngress({ plan, routes = [plan], outside, row }: EffectContext): Effect {
  const { namespace, ingress } = plan.target
  let live: Ingress | undefined
  return {
    name: 'target-ingress',
    async missing() {
      live = await outside.target.ingress(namespace, ingress.name)
      if (live === undefined)
        return `there is no Ingress ${namespace}/${ingress.name} in cluster ${plan.target.cluster}`
      return live.metadata.annotations?.[MULTI_CLUSTER] === 'true'
        ? undefined
        : `Ingress ${ingress.name} is not in multi-cluster mode`
    },
    apply(dryRun) {
      const { apiVersion, kind, metadata, spec } = ingressOfSides(sidesOnSame(routes, plan, 'target'))
      const whole = {
        metadata: { ...metadata, annotations: { ...metadata.annotations, [CREATED_BY]: row().id } },
        spec,
      }
      const only = { metadata: { name: ingress.name, namespace, annotations: { [MULTI_CLUSTER]: 'true' } } }
      return outside.target.apply({ apiVersion, kind, ...(live === undefined ? whole : only) }, dryRun)
    },
  }
}

/** Where the target Ingress was not in multi-cluster mode before this switch, it is not afterwards. */
export function multiClusterRemoved({ plan, outside, row, overridesDrift }: EffectContext): Effect {
  const { namespace, ingress } = plan.target
  let live: Ingress | undefined
  const before = () => live?.metadata.annotations?.[MULTI_CLUSTER] as string | undefined
  return {
    name: 'multi-cluster-removed',
    isRepeated: true,
    async missing() {
      if (row().target_mode_before === null) return undefined
      live = await outside.target.ingress(namespace, ingress.name)
      return before() === 'true' ? `Ingress ${ingress.name} is still in multi-cluster mode` : undefined
    },
    apply(dryRun) {
      const original = row().target_mode_before
      const after = original === null || original === 'absent' ? undefined : original
      const edit = { backends: [], annotations: [{ key: MULTI_CLUSTER, before: before(), after }] }
      const { changeIngress, patchIngress } = outside.target
      if (changeIngress === undefined) return patchIngress(namespace, ingress.name, patchOf(live!, edit), dryRun)
      const how = { dryRun, overridesDrift, isRollback: false, step: row().step, route: plan.route?.name }
      return changeIngress(live!, edit, how)
    },
  }
}

/** The target Ingress that this switch made, unless the host name leads to it already. */
export function createdIngressGone({ plan, outside, row }: EffectContext, isNameThere: () => Promise<boolean>): Effect {
  const { namespace, ingress } = plan.target
  return {
    name: 'target-ingress-deleted',
    async missing() {
      const live = await outside.target.ingress(namespace, ingress.name)
      if (live?.metadata.annotations?.[CREATED_BY] !== row().id || (await isNameThere())) return undefined
      return `Ingress ${namespace}/${ingress.name}, which prepare made in cluster ${plan.target.cluster}, still exists`
    },
    async apply(dryRun) {
      if (!dryRun) await outside.target.deleteIngress(namespace, ingress.name)
    },
  }
}
