import { actionOfStep } from '../model/action.ts'
import type { RoutePlan, SideName } from '../model/plan.ts'
import { skipping } from '../model/words.ts'
import {
  healthBefore,
  healthyTargets,
  targetGroup,
  targetGroupAttributes,
  targetGroupGone,
  targetsGone,
} from './balancer-effects.ts'
import { binding, bindingGone } from './binding-effects.ts'
import { oneForEachHost } from './contexts.ts'
import { type DirectRules, directlyBack, directlyForward } from './direct-rules.ts'
import { dns, leadsTo } from './dns-effect.ts'
import { recordBack } from './dns-record-effects.ts'
import { arnOf, type Effect, type EffectContext, ofRoute } from './effect.ts'
import { fieldsReleased } from './field-owners.ts'
import { gitBack, proposalsWithdrawn } from './git-effect.ts'
import { attach, detach, keptIngress, restoredIngress, weights } from './ingress-effects.ts'
import { guards, preflight } from './preflight-effect.ts'
import { weightsBack } from './rollback-effects.ts'
import { released, rule, rulesAsLeft } from './rule-effects.ts'
import { createdIngressGone, multiClusterRemoved, targetIngress } from './target-ingress-effects.ts'

type Contexts = readonly EffectContext[]
type Sequence = (context: EffectContext) => readonly Effect[]

const sequencesOf = (contexts: Contexts, sequence: Sequence): readonly (readonly Effect[])[] =>
  contexts.map((context) => sequence(context).map((effect) => ofRoute(effect, context.plan.route?.name)))

/** Runs all routes together, effect by effect: no route continues before the others have got as far. */
function lockstep(contexts: Contexts, sequence: Sequence): readonly Effect[] {
  const sequences = sequencesOf(contexts, sequence)
  const longest = Math.max(...sequences.map(({ length }) => length))
  return Array.from({ length: longest }, (_, place) => sequences.flatMap((effects) => effects[place] ?? [])).flat()
}

/** Only looks: a plan that does not fit changes nothing, on any route. */
export const preflightEffects = (contexts: Contexts): readonly Effect[] =>
  lockstep(contexts, (context) => [preflight(context)])

export const prepareEffects = (contexts: Contexts): readonly Effect[] =>
  lockstep(contexts, (context) => [
    targetIngress(context),
    targetGroup(context),
    targetGroupAttributes(context),
    binding(context),
    attach(context),
    rule(context, () => actionOfStep(context.plan, 0, arnOf(context))),
    healthyTargets(context),
  ])

const PAST_CONTROLLER = `If the controller is down, or sees no difference, advance with ${skipping('directly')} changes the rules at the load balancer itself.`

export const stepEffects = (contexts: Contexts, step: number, direct?: Direct): readonly Effect[] =>
  lockstep(contexts, (context) => {
    const change = weights(context, step)
    const movesTraffic = context.plan.steps[step]!.weights.target > 0
    const before = [step - 1, step].filter((each) => each >= 0)
    return [
      guards(context),
      rulesAsLeft(context, () => before.map((each) => actionOfStep(context.plan, each, arnOf(context))), change),
      ...(movesTraffic ? [healthBefore(context, step, change)] : []),
      direct?.get(context)?.patient(change) ?? change,
      {
        ...rule(context, () => actionOfStep(context.plan, step, arnOf(context))),
        ...(direct === undefined && context.plan.mode === 'apply' ? { wayOut: PAST_CONTROLLER } : {}),
      },
      ...(movesTraffic ? [healthyTargets(context, true)] : []),
    ]
  })

/** A step for which the operator allowed Weir to change rules that do not follow. */
export function directStep(contexts: Contexts, step: number): Accompanied {
  const direct: Direct = new Map(
    contexts.map((context) => [
      context,
      directlyForward(context, () => actionOfStep(context.plan, step, arnOf(context))),
    ]),
  )
  return { effects: stepEffects(contexts, step, direct), direct: [...direct.values()] }
}

type Direct = ReadonlyMap<EffectContext, DirectRules>

/** Effects, and the direct corrections of rules that run beside them: one for each route concerned. */
export interface Accompanied {
  readonly effects: readonly Effect[]
  readonly direct: readonly DirectRules[]
}

/** The weights come first, because they matter most, then their proof. Each route runs by itself, because none may wait for another. */
export const rollbackSequences = (contexts: Contexts): readonly Accompanied[] =>
  contexts.map((context) => {
    const direct = directlyBack(context)
    const effects = [restoredIngress(context), ...gitBack(context), ...weightsBack(context)]
    return {
      effects: effects.map((effect) => ofRoute(direct.patient(effect), context.plan.route?.name)),
      direct: context.plan.mode === 'observe' ? [] : [direct],
    }
  })

/** The host names are led back after the weights: each host once, however many routes it has. */
export const namesBackSequences = (contexts: Contexts, isChecked: boolean): readonly (readonly Effect[])[] =>
  sequencesOf(oneForEachHost(contexts), (context) => [
    ...recordBack(context, isChecked),
    ...(isChecked ? [dns(context, 'current')] : []),
  ])

/** The only safe order: first the rule goes, then the binding, then the target group. */
const removal = (context: EffectContext, keepsIngress: boolean, isGivenUp = false): readonly Effect[] => [
  ...(keepsIngress ? [] : [keptIngress(context)]),
  detach(context, keepsIngress, isGivenUp),
  ...(keepsIngress ? [fieldsReleased(context)] : []),
  released(context),
  bindingGone(context),
  targetsGone(context),
  targetGroupGone(context),
]

export const cleanupEffects = (contexts: Contexts, keepsIngress: boolean): readonly Effect[] =>
  lockstep(contexts, (context) => removal(context, keepsIngress))

/**
 * Prepares giving up a switch: withdraws proposals and takes back records that were on their way. Nothing is removed while a
 * part of the answers leads to the target. If somebody confirmed that all of them do, the records stay.
 */
export const givenUpEffects = (contexts: Contexts): readonly Effect[] => [
  ...proposalsWithdrawn(contexts[0]!),
  ...(contexts[0]!.row().dns_confirmed_at === null
    ? sequencesOf(oneForEachHost(contexts), (context) => recordBack(context, true)).flat()
    : []),
]

/** Tells whether something else needs the Ingress of a side as it is. */
export type IsNeeded = (plan: RoutePlan, side: SideName) => boolean

/** The removal for a switch that is given up, including what was created or set only for it. */
export const abortEffects = (contexts: Contexts, isNeeded: IsNeeded): readonly Effect[] =>
  lockstep(contexts, (context) => [
    // In mode observe somebody else makes these settings and also removes them.
    ...removal(context, true, context.plan.mode !== 'observe' && !isNeeded(context.plan, 'current')),
    ...(context.plan.mode === 'observe' || isNeeded(context.plan, 'target') ? [] : [multiClusterRemoved(context)]),
    createdIngressGone(context, () => leadsTo(context, 'target')),
  ])
