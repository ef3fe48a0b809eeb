import type { Ingress } from '../model/manifests.ts'
import { FIELD_MANAGER } from '../vendors/cluster.ts'
import { type Effect, type EffectContext, liveCurrent } from './effect.ts'

interface ManagedFields {
  readonly manager?: string
  readonly time?: string
  readonly fieldsV1?: { readonly 'f:metadata'?: { readonly 'f:annotations'?: Readonly<Record<string, unknown>> } }
}
const managedFieldsOf = (ingress: Ingress): readonly ManagedFields[] =>
  (ingress.metadata.managedFields as readonly ManagedFields[] | undefined) ?? []

/** Names who wrote an annotation last, as far as the API server knows. */
export function describeOwner(ingress: Ingress, key: string): string {
  const owner = managedFieldsOf(ingress).find(
    ({ fieldsV1 }) => fieldsV1?.['f:metadata']?.['f:annotations']?.[`f:${key}`] !== undefined,
  )
  if (owner?.manager === undefined || owner.manager === FIELD_MANAGER) return ''
  return `; ${owner.manager} wrote it${owner.time === undefined ? '' : ` at ${owner.time}`}`
}

/** Leaves no field ownership behind. Otherwise the next apply by the owner of the Ingress conflicts with Weir. */
export function fieldsReleased(context: EffectContext): Effect {
  const { plan, outside } = context
  let live: Ingress | undefined
  const own = (): number => managedFieldsOf(live!).findIndex(({ manager }) => manager === FIELD_MANAGER)
  return {
    name: 'fields-released',
    isRepeated: true,
    async missing() {
      live = await liveCurrent(context)
      if (live === undefined || live.metadata.deletionTimestamp !== undefined || own() === -1) return undefined
      return `${FIELD_MANAGER} still owns fields of Ingress ${plan.current.ingress.name}`
    },
    apply(dryRun) {
      const path = `/metadata/managedFields/${own()}`
      return outside.current.patchIngress(
        plan.current.namespace,
        plan.current.ingress.name,
        [
          { op: 'test', path: '/metadata/resourceVersion', value: live!.metadata.resourceVersion },
          { op: 'test', path: `${path}/manager`, value: FIELD_MANAGER },
          { op: 'remove', path },
        ],
        dryRun,
      )
    },
  }
}
