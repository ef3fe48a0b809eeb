import { isDeepStrictEqual } from 'node:util'
import { actionKey, actionOfStep, aloneAction, type ForwardAction, rollbackAction } from '../model/action.ts'
import { parsedAction, weightsText } from '../model/action-text.ts'
import { TrafficError } from '../model/finding.ts'
import {
  actionBackends,
  actionEdit,
  applyEdit,
  attachEdit,
  detachEdit,
  directBackends,
  type IngressEdit,
  isSameIngress,
  patchOf,
  savedIngress,
} from '../model/ingress.ts'
import type { Ingress, Service } from '../model/manifests.ts'
import { pathText, type RoutePlan } from '../model/plan.ts'
import { arnOf, type Effect, type EffectContext, knownArn, liveCurrent, meetDrift } from './effect.ts'
import { describeOwner } from './field-owners.ts'

const actionText = (ingress: Ingress, plan: RoutePlan): string | undefined =>
  ingress.metadata.annotations?.[actionKey(plan.actionName)] as string | undefined

const ingressName = ({ current }: RoutePlan): string => `${current.namespace}/${current.ingress.name}`

/** Actions that this switch may have written last: a process that was killed could not record whether it had written. */
function possiblyWritten(context: EffectContext): readonly ForwardAction[] {
  const { plan, row } = context
  const arn = knownArn(context)
  if (arn === undefined) return [aloneAction(plan)]
  const steps = [...new Set([0, row().step])].filter((step) => step in plan.steps)
  return [aloneAction(plan), rollbackAction(plan, arn), ...steps.map((step) => actionOfStep(plan, step, arn))]
}

/** Treats an action as drift if it is neither what Weir wrote nor what is wanted. */
function meetForeignAction(context: EffectContext, live: Ingress, wanted: readonly ForwardAction[]): void {
  const { plan, row } = context
  const key = actionKey(plan.actionName)
  const text = actionText(live, plan)
  const applied = row().applied_action
  const isOurs = applied !== null && isDeepStrictEqual(parsedAction(text), parsedAction(applied))
  const isWanted = wanted.some((each) => isDeepStrictEqual(parsedAction(text), each))
  if (isOurs || isWanted) return
  meetDrift(
    context,
    `annotation ${key} of Ingress ${ingressName(plan)} is not what Weir wrote${describeOwner(live, key)}.\n  live:    ${text ?? '(none)'}\n  written: ${applied ?? '(nothing)'}`,
  )
}

function change(
  { plan, outside, row, overridesDrift }: EffectContext,
  ingress: Ingress,
  edit: IngressEdit,
  dryRun: boolean,
): Promise<void> {
  const { changeIngress } = outside.current
  const { step, state } = row()
  if (changeIngress !== undefined)
    return changeIngress(ingress, edit, {
      dryRun,
      overridesDrift,
      isRollback: state === 'rolling-back',
      step,
      route: plan.route?.name,
    })
  const { namespace, ingress: own } = plan.current
  return outside.current.patchIngress(namespace, own.name, patchOf(ingress, edit), dryRun)
}

/** The part of the edit that is left to write. An action that says the same in other words is no difference. */
const leftToDo = (edit: IngressEdit, plan: RoutePlan, wanted: ForwardAction): IngressEdit => ({
  ...edit,
  annotations: edit.annotations.filter(
    ({ key, before }) =>
      key !== actionKey(plan.actionName) || before === undefined || !isDeepStrictEqual(parsedAction(before), wanted),
  ),
})
const isEmpty = ({ backends, annotations }: IngressEdit): boolean => backends.length + annotations.length === 0

async function requireCurrent(context: EffectContext): Promise<Ingress> {
  const live = await liveCurrent(context)
  if (live !== undefined) return live
  const { cluster } = context.plan.current
  throw new TrafficError('conflict', `Ingress ${ingressName(context.plan)} is gone from cluster ${cluster}. Roll back.`)
}
const currentService = ({ plan, outside }: EffectContext): Promise<Service | undefined> =>
  outside.current.service(plan.current.namespace, plan.current.service.name)

/** First write to the Ingress: every path of the Service and the annotation change together. */
export function attach(context: EffectContext): Effect {
  const { plan } = context
  const wanted = () => actionOfStep(plan, 0, arnOf(context))
  let live: Ingress
  let edit: IngressEdit
  return {
    name: 'attach',
    async missing() {
      live = await requireCurrent(context)
      if (actionText(live, plan) !== undefined) meetForeignAction(context, live, [wanted()])
      edit = leftToDo(attachEdit(live, plan, wanted(), await currentService(context)), plan, wanted())
      return isEmpty(edit) ? undefined : 'the current Ingress does not use the action yet'
    },
    apply: (dryRun) => change(context, live, edit, dryRun),
    learned: () => ({ applied_action: JSON.stringify(wanted()) }),
  }
}

/** Writes the weights of a step. Paths that left the action, or were added beside it, are drift, because a Service never moves by half. */
export function weights(context: EffectContext, step: number): Effect {
  const { plan } = context
  const wanted = () => actionOfStep(plan, step, arnOf(context))
  let live: Ingress
  let edit: IngressEdit
  return {
    name: 'weights',
    async missing() {
      live = await requireCurrent(context)
      const service = await currentService(context)
      const direct = directBackends(live, plan, service)
      const text = actionText(live, plan)
      if (text === undefined || actionBackends(live, plan).length === 0)
        meetDrift(
          context,
          `Ingress ${ingressName(plan)} does not use the action ${plan.actionName} any more (${text === undefined ? 'annotation' : 'backend'} missing).`,
        )
      else if (direct.length > 0)
        meetDrift(
          context,
          `${direct.map(({ path }) => pathText(path)).join(', ')} of Ingress ${ingressName(plan)} use Service ${plan.current.service.name} directly: ${actionBackends(live, plan).length} of ${actionBackends(live, plan).length + direct.length} paths move.`,
        )
      edit = leftToDo(attachEdit(live, plan, wanted(), service), plan, wanted())
      if (isEmpty(edit)) return undefined
      if (text !== undefined) meetForeignAction(context, live, [wanted()])
      return isDeepStrictEqual(parsedAction(text), wanted())
        ? `the current Ingress differs in ${[...edit.backends.map(({ path }) => pathText(path)), ...edit.annotations.map(({ key }) => key)].join(', ')}`
        : `the annotation still says ${weightsText(parsedAction(text))}`
    },
    apply: (dryRun) => change(context, live, edit, dryRun),
    learned: () => ({ applied_action: JSON.stringify(wanted()) }),
  }
}

/** Gives all weight back to the current side, whatever the action says now. Paths that do not use the action have nothing to take back. */
export function rollbackWeights(context: EffectContext, wanted: () => ForwardAction): Effect {
  const { plan } = context
  let live: Ingress | undefined
  let edit: IngressEdit
  return {
    name: 'rollback-weights',
    isRepeated: true,
    isHeld: true,
    async missing() {
      live = await liveCurrent(context)
      if (live === undefined) return undefined
      const text = actionText(live, plan)
      if (text === undefined && actionBackends(live, plan).length === 0) return undefined
      edit = leftToDo(actionEdit(live, plan, wanted()), plan, wanted())
      if (isEmpty(edit)) return undefined
      meetForeignAction(context, live, [wanted(), ...possiblyWritten(context)])
      return `the annotation still says ${weightsText(parsedAction(text))}`
    },
    apply: (dryRun) => change(context, live!, edit, dryRun),
    learned: () =>
      live === undefined || actionText(live, plan) === undefined ? {} : { applied_action: JSON.stringify(wanted()) },
  }
}

/** Stores the Ingress just before it is deleted, with everything that was written into it since the switch began. */
export function keptIngress(context: EffectContext): Effect {
  let kept: Ingress | undefined
  return {
    name: 'ingress-kept',
    isAlways: true,
    async missing() {
      const live = await liveCurrent(context)
      kept = live?.metadata.deletionTimestamp === undefined ? live : undefined
      return undefined
    },
    learned() {
      if (kept === undefined) return {}
      const saved = savedIngress(kept)
      const { annotations } = kept.metadata
      return { deleted_ingress: JSON.stringify({ ...saved, metadata: { ...saved.metadata, annotations } }) }
    },
  }
}

/** Puts all weight on the current side. If the target group is gone, the action is removed, because its ARN blocks every rule. */
async function backOnCurrent(context: EffectContext, deleted: Ingress): Promise<Ingress> {
  const { plan, routes = [plan], outside, row } = context
  const original = row().original_ingress
  let wanted = deleted
  for (const each of routes) {
    if (actionText(wanted, each) === undefined || !isSameIngress(each.current, plan.current)) continue
    const group = await outside.balancer.targetGroup(each.targetGroup.name)
    const edit =
      group === undefined
        ? detachEdit(wanted, each, original === null ? undefined : JSON.parse(original))
        : actionEdit(wanted, each, rollbackAction(each, group.arn))
    wanted = applyEdit(wanted, edit)
  }
  return wanted
}

/** Restores an Ingress that clean-up deleted: as it was at that moment, with all weight on its Service. */
export function restoredIngress(context: EffectContext): Effect {
  const { outside, row } = context
  return {
    name: 'restore-ingress',
    isHeld: true,
    async missing() {
      const live = await liveCurrent(context)
      if (row().original_ingress === null && row().deleted_ingress === null) return undefined
      // An Ingress that is being deleted cannot be kept; it is created again when it is gone.
      if (live?.metadata.deletionTimestamp !== undefined) return 'the current Ingress is being deleted'
      return live === undefined ? 'the current Ingress was deleted' : undefined
    },
    isRepeated: true,
    async apply(dryRun) {
      if ((await liveCurrent(context)) !== undefined) return
      const { deleted_ingress: deleted, original_ingress: original } = row()
      const wanted = deleted === null ? JSON.parse(original!) : await backOnCurrent(context, JSON.parse(deleted))
      await outside.current.apply(wanted, dryRun)
    },
  }
}

/** Checks for drift before something that carries the action of this route is removed. */
export async function refuseDrift(context: EffectContext): Promise<void> {
  const live = await liveCurrent(context)
  if (live !== undefined && actionText(live, context.plan) !== undefined)
    meetForeignAction(context, live, possiblyWritten(context))
}

/** Takes the action out of the Ingress. If the switch is given up, also removes what was added to the Ingress only for it. */
export function detach(context: EffectContext, keepsIngress: boolean, isGivenUp = false): Effect {
  const { plan, outside, row } = context
  let live: Ingress | undefined
  const edit = (): IngressEdit => {
    const original = row().original_ingress
    return detachEdit(live!, plan, original === null ? undefined : JSON.parse(original), isGivenUp)
  }
  return {
    name: 'detach',
    async missing() {
      live = await liveCurrent(context)
      if (live === undefined) return undefined
      if (actionText(live, plan) !== undefined) meetForeignAction(context, live, possiblyWritten(context))
      if (!keepsIngress) return 'the current Ingress still exists'
      return isEmpty(edit()) ? undefined : 'the current Ingress still uses the action'
    },
    apply: (dryRun) =>
      keepsIngress
        ? change(context, live!, edit(), dryRun)
        : dryRun
          ? Promise.resolve()
          : outside.current.deleteIngress(plan.current.namespace, plan.current.ingress.name),
  }
}
