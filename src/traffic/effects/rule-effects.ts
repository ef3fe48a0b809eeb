import { byName } from '../../basics/by-name.ts'
import type { ForwardAction } from '../model/action.ts'
import { actionBackends } from '../model/ingress.ts'
import type { RoutePlan } from '../model/plan.ts'
import type { Share } from '../model/words.ts'
import type { ForwardRule } from '../vendors/rules.ts'
import { type Effect, type EffectContext, liveCurrent, meetDrift, type Outside } from './effect.ts'

/** The rules of the load balancer that concern the target group. */
interface RulePicture {
  /** Rules that name the target group. */
  readonly own: readonly ForwardRule[]
  /** Rules that still forward to the group of the current Service alone, although they should forward to both. */
  readonly left: readonly ForwardRule[]
  readonly arn: string | undefined
  readonly loadBalancer: string | undefined
}

/** The part of a context that is needed to look at the rules. */
interface RuleView {
  readonly plan: RoutePlan
  readonly outside: Pick<Outside, 'balancer'>
}

export async function rulePicture({ plan, outside: { balancer } }: RuleView): Promise<RulePicture> {
  const group = await balancer.targetGroup(plan.targetGroup.name)
  if (group === undefined) return { own: [], left: [], arn: undefined, loadBalancer: undefined }
  const rules = (await Promise.all(group.loadBalancerArns.map((arn) => balancer.rules(arn)))).flat()
  const names = (rule: ForwardRule, arn: string) => rule.groups.some((each) => each.arn === arn)
  const own = rules.filter((rule) => names(rule, group.arn))
  const partners = new Set(own.flatMap(({ groups }) => groups.map(({ arn }) => arn)))
  const left = rules.filter((rule) => !own.includes(rule) && rule.groups.some(({ arn }) => partners.has(arn)))
  return { own, left, arn: group.arn, loadBalancer: group.loadBalancerArns[0] }
}

export const targetWeight = ({ own, arn }: RulePicture): number =>
  Math.max(0, ...own.map(({ groups }) => groups.find((group) => group.arn === arn)?.weight ?? 0))

/** Counts the rules by their weights, written as others/target. */
export function weightCounts({ own, arn }: RulePicture): Readonly<Record<string, number>> {
  const counts: Record<string, number> = byName({})
  for (const { groups } of own) {
    const of = (isTarget: boolean) => groups.filter((group) => (group.arn === arn) === isTarget)
    const text = [of(false), of(true)].map((each) => each.map(({ weight }) => weight).join('+') || '0').join('/')
    counts[text] = (counts[text] ?? 0) + 1
  }
  return counts
}

/** The part of the requests that the target gets. Without a rule that names it, that is none. */
export function shareOf({ own, left, arn }: RulePicture): Share {
  const shares = own.map((rule) => {
    const { target, others } = weightsIn(rule, arn)
    const all = others.reduce((sum, weight) => sum + weight, target)
    return all === 0 ? 0 : target / all
  })
  if (left.length > 0 || shares.length === 0) shares.push(0)
  return { least: Math.min(...shares), most: Math.max(...shares) }
}

interface Weights {
  readonly target: number
  readonly others: readonly number[]
}
export const weightsIn = ({ groups }: ForwardRule, arn: string | undefined): Weights => ({
  target: groups.find((group) => group.arn === arn)?.weight ?? 0,
  others: groups.filter((group) => group.arn !== arn).map(({ weight }) => weight),
})

export function follows(rule: ForwardRule, arn: string | undefined, wanted: ForwardAction): boolean {
  const [current, target] = wanted.forwardConfig.targetGroups.map(({ weight }) => weight)
  const sticky = wanted.forwardConfig.targetGroupStickinessConfig
  const { target: own, others } = weightsIn(rule, arn)
  return (
    own === target &&
    others.length === 1 &&
    others[0] === current &&
    rule.isSticky === sticky.enabled &&
    (!sticky.enabled || rule.durationSeconds === sticky.durationSeconds)
  )
}

function describeWrong(rule: ForwardRule, arn: string | undefined, wanted: ForwardAction): string {
  const [current, target] = wanted.forwardConfig.targetGroups.map(({ weight }) => weight)
  const { target: own, others } = weightsIn(rule, arn)
  const sticky = wanted.forwardConfig.targetGroupStickinessConfig.enabled
  return `rule ${rule.rule} has weights ${others.join('+')}/${own}${rule.isSticky ? ', sticky' : ''}; wanted ${current}/${target}${sticky ? ', sticky' : ''}`
}

/** The number of paths of the action without a rule, on the listener that has the most rules. */
function pathsWithoutRule(own: readonly ForwardRule[], paths: number): number {
  const perListener = Map.groupBy(own, ({ listener }) => listener)
  return Math.max(0, paths - Math.max(0, ...[...perListener.values()].map((rules) => rules.length)))
}

export async function withWarning({ plan, outside }: EffectContext, problem: string): Promise<string> {
  const warning = await outside.current
    .warning(plan.current.namespace, plan.current.ingress.name)
    .catch(() => undefined)
  return warning === undefined ? problem : `${problem} (the controller says ${warning})`
}

/** Checks that every rule that should forward to both groups does so with the weights of the step. All rules are counted, not sampled. */
export function rule(context: EffectContext, wanted: () => ForwardAction): Effect {
  const problemNow = async (): Promise<string | undefined> => {
    const { own, left, arn } = await rulePicture(context)
    if (own.length === 0) return 'no rule of the load balancer names the target group yet'
    const live = await liveCurrent(context)
    const wrong = own.filter((each) => !follows(each, arn, wanted()))
    const unmade =
      live === undefined ? 0 : pathsWithoutRule(own, actionBackends(live, context.plan).length - left.length)
    if (wrong.length + left.length + unmade === 0) return undefined
    const example = wrong[0]
      ? describeWrong(wrong[0], arn, wanted())
      : left[0]
        ? `rule ${left[0].rule} forwards to the current target group alone`
        : `${unmade} paths of the Ingress have no rule`
    const total = own.length + left.length + unmade
    return `${own.length - wrong.length} of ${total} rules follow; ${example}`
  }
  return {
    name: 'rule-verified',
    isHeld: true,
    async missing() {
      const problem = await problemNow()
      return problem === undefined ? undefined : withWarning(context, problem)
    },
  }
}

/**
 * Checks the rules before a step is written: they must do what the step before left there, or what this step wants. The Ingress
 * is checked first, because its drift explains that of the rules.
 */
export function rulesAsLeft(context: EffectContext, expected: () => readonly ForwardAction[], weights: Effect): Effect {
  return {
    name: 'rules-as-left',
    async missing() {
      await weights.missing()
      const { own, left, arn } = await rulePicture(context)
      const foreign = own.filter((each) => !expected().some((action) => follows(each, arn, action)))
      const [first] = [...foreign, ...left]
      if (first === undefined && own.length > 0) return undefined
      const what =
        first === undefined
          ? 'no rule of the load balancer names the target group any more'
          : `${foreign.length + left.length} of ${own.length + left.length} rules of the load balancer are not as Weir left them; ${describeWrong(first, arn, expected()[0]!)}`
      meetDrift(context, `${what}. Somebody changed this at AWS.`)
      return undefined
    },
  }
}

export function released(context: EffectContext): Effect {
  return {
    name: 'rule-released',
    async missing() {
      const { own } = await rulePicture(context)
      return own.length === 0
        ? undefined
        : withWarning(context, `rule ${own[0]!.rule} still names the target group (${own.length} left)`)
    },
  }
}
