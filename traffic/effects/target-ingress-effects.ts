/** Effects on the Ingress of the cluster that gets the traffic. */
import { ingressOfSides, MULTI_CLUSTER, patchOf, sidesOnSame } from '../model/ingress.ts'
import type { Ingress } from '../model/manifests.ts'
import type { Effect, EffectContext } from './effect.ts'

/** Names the switch that made an Ingress, so that only its own abort removes it. */
const CREATED_BY = 'weir-traffic/created-by'

/** Adds one annotation to an existing Ingress; creates a missing one from the plan. */
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

/** Takes the target Ingress out of multi-cluster mode again if it was not in it before this switch. */
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

/** Deletes the target Ingress that this switch made, unless the host name already leads to it. */
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
