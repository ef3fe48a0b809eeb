import { actionOfStep } from '../model/action.ts'
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
import { dns, leadsTo } from './dns-effect.ts'
import { recordBack } from './dns-record-effects.ts'
import { arnOf, type Effect, type EffectContext, ofRoute } from './effect.ts'
import { fieldsReleased } from './field-owners.ts'
import { gitBack, proposalsWithdrawn } from './git-effect.ts'
import {
  attach,
  createdIngressGone,
  detach,
  multiClusterRemoved,
  restoredIngress,
  targetIngress,
  weights,
} from './ingress-effects.ts'
import { guards, preflight } from './preflight-effect.ts'
import { balancerBack, weightsBack } from './rollback-effects.ts'
import { released, rule } from './rule-effects.ts'

type Contexts = readonly EffectContext[]
type Sequence = (context: EffectContext) => readonly Effect[]

const sequencesOf = (contexts: Contexts, sequence: Sequence): readonly (readonly Effect[])[] =>
  contexts.map((context) => sequence(context).map((effect) => ofRoute(effect, context.plan.route?.name)))

/** All routes together, effect by effect: none goes on before the others have got as far. */
function lockstep(contexts: Contexts, sequence: Sequence): readonly Effect[] {
  const sequences = sequencesOf(contexts, sequence)
  const longest = Math.max(...sequences.map(({ length }) => length))
  return Array.from({ length: longest }, (_, place) => sequences.flatMap((effects) => effects[place] ?? [])).flat()
}

/** Looks only: a plan that does not fit changes nothing, on no route. */
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

export const stepEffects = (contexts: Contexts, step: number): readonly Effect[] =>
  lockstep(contexts, (context) => {
    const change = weights(context, step)
    const movesTraffic = context.plan.steps[step]!.weights.target > 0
    return [
      guards(context),
      ...(movesTraffic ? [healthBefore(context, step, change)] : []),
      change,
      rule(context, () => actionOfStep(context.plan, step, arnOf(context))),
      ...(movesTraffic ? [healthyTargets(context)] : []),
    ]
  })

/** What counts comes first: weights, then their proof. Each route by itself, because none may wait for another. */
export const rollbackSequences = (contexts: Contexts): readonly (readonly Effect[])[] =>
  sequencesOf(contexts, (context) => [
    balancerBack(context),
    restoredIngress(context),
    ...gitBack(context),
    ...weightsBack(context),
  ])

/** Where the names lead comes after them: each host once, however many routes it has. */
export const namesBackSequences = (contexts: Contexts, isChecked: boolean): readonly (readonly Effect[])[] =>
  sequencesOf(oneForEachHost(contexts), (context) => [
    ...recordBack(context, isChecked),
    ...(isChecked ? [dns(context, 'current')] : []),
  ])

/** The one safe order: no rule, then no binding, then no target group. */
const removal = (context: EffectContext, keepsIngress: boolean, isGivenUp = false): readonly Effect[] => [
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
 * Before a switch is given up: what was proposed, and records that were on their way. Nothing is taken away while a part
 * of the answers leads there; where all of them do, as somebody confirmed, they stay.
 */
export const givenUpEffects = (contexts: Contexts): readonly Effect[] => [
  ...proposalsWithdrawn(contexts[0]!),
  ...(contexts[0]!.row().dns_confirmed_at === null
    ? sequencesOf(oneForEachHost(contexts), (context) => recordBack(context, true)).flat()
    : []),
]

export type SideName = 'current' | 'target'
/** Whether something else needs the Ingress of a side as it is. */
export type IsNeeded = (plan: EffectContext['plan'], side: SideName) => boolean

/** The same for a switch that is given up, with what was made or set for it alone. */
export const abortEffects = (contexts: Contexts, isNeeded: IsNeeded = () => false): readonly Effect[] =>
  lockstep(contexts, (context) => [
    // In mode observe somebody else sets it, as somebody else takes it out.
    ...removal(context, true, context.plan.mode !== 'observe' && !isNeeded(context.plan, 'current')),
    ...(context.plan.mode === 'observe' || isNeeded(context.plan, 'target') ? [] : [multiClusterRemoved(context)]),
    createdIngressGone(context, () => leadsTo(context, 'target')),
  ])
