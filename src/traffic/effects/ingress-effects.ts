import { isDeepStrictEqual } from 'node:util'
import { actionKey, actionOfStep, type ForwardAction } from '../action.ts'
import { TrafficError } from '../finding.ts'
import {
  actionBackend,
  attachEdit,
  detachEdit,
  type IngressEdit,
  ingressOfSide,
  MULTI_CLUSTER,
  patchOf,
} from '../ingress.ts'
import { backendsOf, type Ingress } from '../manifests.ts'
import { shown, textOf } from '../names.ts'
import type { Plan } from '../plan.ts'
import { arnOf, type Effect, type EffectContext } from './effect.ts'

/** An existing Ingress gets one annotation; a missing one is made from the plan. */
export function targetIngress({ plan, outside }: EffectContext): Effect {
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
      const { apiVersion, kind, ...whole } = ingressOfSide(plan.target)
      const only = { metadata: { name: ingress.name, namespace, annotations: { [MULTI_CLUSTER]: 'true' } } }
      return outside.target.apply({ apiVersion, kind, ...(live === undefined ? whole : only) }, dryRun)
    },
  }
}

const parsedAction = (text: unknown): unknown => {
  try {
    return JSON.parse(textOf(text))
  } catch {
    return text
  }
}

const actionText = (ingress: Ingress, plan: Plan): string | undefined =>
  ingress.metadata.annotations?.[actionKey(plan.actionName)] as string | undefined

/** Drift: neither what we wrote nor what we want. */
function refuseDrift(
  { plan, row, acceptsLive }: EffectContext,
  live: string | undefined,
  wanted?: ForwardAction,
): void {
  const applied = row().applied_action
  const isOurs = applied !== null && isDeepStrictEqual(parsedAction(live), parsedAction(applied))
  const isWanted = wanted !== undefined && isDeepStrictEqual(parsedAction(live), wanted)
  if (isOurs || isWanted || acceptsLive) return
  throw new TrafficError(
    'conflict',
    `Drift: annotation ${actionKey(plan.actionName)} of Ingress ${plan.current.namespace}/${plan.current.ingress.name} is not what Weir wrote; nothing was overwritten.\n  live:    ${live ?? '(none)'}\n  written: ${applied ?? '(nothing)'}\nPut it back, or repeat with --accept-live to start from the live value.`,
  )
}

const liveCurrent = ({ plan, outside }: EffectContext) =>
  outside.current.ingress(plan.current.namespace, plan.current.ingress.name)

const change = (
  { plan, outside }: EffectContext,
  ingress: Ingress,
  edit: IngressEdit,
  dryRun: boolean,
): Promise<void> =>
  outside.current.patchIngress(plan.current.namespace, plan.current.ingress.name, patchOf(ingress, edit), dryRun)

/** First contact: every path of the service and the annotation change in one write. */
export function attach(context: EffectContext): Effect {
  const { plan } = context
  const wanted = () => actionOfStep(plan, 0, arnOf(context))
  let live: Ingress | undefined
  return {
    name: 'attach',
    async missing() {
      live = await liveCurrent(context)
      if (live === undefined)
        throw new TrafficError(
          'conflict',
          `Ingress ${plan.current.ingress.name} is gone from cluster ${plan.current.cluster}.`,
        )
      const text = actionText(live, plan)
      if (text !== undefined) refuseDrift(context, text, wanted())
      const edit = attachEdit(live, plan, wanted())
      return edit.backends.length +
        edit.annotations.filter(({ key, before }) => !isSame(key, before, wanted())).length ===
        0
        ? undefined
        : 'the current Ingress does not use the action yet'
    },
    apply: (dryRun) => change(context, live!, attachEdit(live!, plan, wanted()), dryRun),
    learned: () => ({ applied_action: JSON.stringify(wanted()) }),
  }
}

const isSame = (key: string, text: string | undefined, action: ForwardAction): boolean =>
  key !== MULTI_CLUSTER && text !== undefined && isDeepStrictEqual(parsedAction(text), action)

/** One annotation, compared and set. */
export function action(context: EffectContext, name: string, wanted: () => ForwardAction, mayBeAbsent = false): Effect {
  const { plan } = context
  let live: Ingress | undefined
  return {
    name,
    async missing() {
      live = await liveCurrent(context)
      const text = live === undefined ? undefined : actionText(live, plan)
      const isUsed =
        live !== undefined && backendsOf(live).some(({ backend }) => isDeepStrictEqual(backend, actionBackend(plan)))
      if (text === undefined && !isUsed && mayBeAbsent) return undefined
      if (text === undefined || !isUsed) {
        throw new TrafficError(
          'conflict',
          `Drift: Ingress ${plan.current.ingress.name} does not use the action ${plan.actionName} any more (${text === undefined ? 'annotation' : 'backend'} missing); nothing was overwritten.`,
        )
      }
      if (isDeepStrictEqual(parsedAction(text), wanted())) return undefined
      refuseDrift(context, text)
      return `the annotation still says ${weightsText(parsedAction(text))}`
    },
    apply(dryRun) {
      const key = actionKey(plan.actionName)
      return change(
        context,
        live!,
        { backends: [], annotations: [{ key, before: actionText(live!, plan), after: JSON.stringify(wanted()) }] },
        dryRun,
      )
    },
    learned: () =>
      live === undefined || actionText(live, plan) === undefined ? {} : { applied_action: JSON.stringify(wanted()) },
  }
}

const weightsText = (value: unknown): string => {
  const groups = (value as Partial<ForwardAction> | undefined)?.forwardConfig?.targetGroups
  return Array.isArray(groups) ? groups.map(({ weight }) => weight).join('/') : shown(value)
}

/** Clean-up may have deleted the Ingress: then it comes back as it was before the switch. */
export function restoredIngress(context: EffectContext): Effect {
  const { outside, row } = context
  return {
    name: 'restore-ingress',
    async missing() {
      const original = row().original_ingress
      if (original === null || (await liveCurrent(context)) !== undefined) return undefined
      return 'the current Ingress was deleted'
    },
    apply: (dryRun) => outside.current.apply(JSON.parse(row().original_ingress!), dryRun),
  }
}

export function detach(context: EffectContext, keepsIngress: boolean): Effect {
  const { plan, outside } = context
  let live: Ingress | undefined
  return {
    name: 'detach',
    async missing() {
      live = await liveCurrent(context)
      if (live === undefined) return undefined
      const text = actionText(live, plan)
      if (text !== undefined) refuseDrift(context, text)
      if (!keepsIngress) return 'the current Ingress still exists'
      const edit = detachEdit(live, plan)
      return edit.backends.length + edit.annotations.length === 0
        ? undefined
        : 'the current Ingress still uses the action'
    },
    apply: (dryRun) =>
      keepsIngress
        ? change(context, live!, detachEdit(live!, plan), dryRun)
        : dryRun
          ? Promise.resolve()
          : outside.current.deleteIngress(plan.current.namespace, plan.current.ingress.name),
  }
}
