import { isDeepStrictEqual } from 'node:util'
import { actionKey, actionOfStep, type ForwardAction, rollbackAction } from './action.ts'
import type { Balancer, RuleWeights } from './balancer.ts'
import type { Cluster } from './cluster.ts'
import { diffManifests } from './diff.ts'
import { refuseErrors, TrafficError } from './finding.ts'
import {
  actionBackend,
  attachEdit,
  bindingOfPlan,
  detachEdit,
  type IngressEdit,
  ingressOfSide,
  MULTI_CLUSTER,
  patchOf,
} from './ingress.ts'
import { lintHealth, lintLive } from './lint-live.ts'
import { lintArn } from './lint-plan.ts'
import { backendsOf, type Ingress } from './manifests.ts'
import { shown } from './names.ts'
import { bindingNamespace, bindingService, type Plan } from './plan.ts'
import type { SwitchChanges, SwitchRow } from './store.ts'

/** The world outside: two clusters, one balancer, and the name servers. */
export interface Outside {
  readonly current: Cluster
  readonly target: Cluster
  readonly balancer: Balancer
  addressesOf(hostname: string): Promise<readonly string[]>
}

/** One thing that has to be so. It is observed first, so that doing it twice does it once. */
export interface Effect {
  readonly name: string
  /** Why it is not so yet; undefined when it is. Throws when it can never be. */
  missing(): Promise<string | undefined>
  /** Makes it so. Absent where we can only wait. */
  apply?(dryRun: boolean): Promise<void>
  /** Apply again while waiting: the other side may refuse for a while. */
  readonly isRepeated?: boolean
  /** Not worth waiting for: somebody has to do it first. */
  readonly isInstant?: boolean
  /** What the switch remembers once it is so. */
  learned?(): SwitchChanges
}

export interface EffectContext {
  readonly plan: Plan
  readonly outside: Outside
  /** The switch as it is now; effects before this one may have changed it. */
  row(): SwitchRow
  /** The operator has seen the drift and wants the live value to be the base. */
  readonly acceptsLive: boolean
}

const arnOf = ({ row, plan }: EffectContext): string => {
  const arn = row().target_group_arn ?? plan.targetGroup.arn
  if (arn === undefined || arn === null)
    throw new TrafficError('conflict', `Target group ${plan.targetGroup.name} does not exist yet. Run prepare first.`)
  return arn
}

export const prepareEffects = (context: EffectContext): readonly Effect[] => [
  preflight(context),
  targetIngress(context),
  targetGroup(context),
  binding(context),
  attach(context),
  rule(context, () => actionOfStep(context.plan, 0, arnOf(context))),
  healthyTargets(context),
]

export const stepEffects = (context: EffectContext, step: number): readonly Effect[] => [
  ...(context.plan.steps[step]!.weights.target > 0 ? [healthBefore(context, step)] : []),
  action(context, 'weights', () => actionOfStep(context.plan, step, arnOf(context))),
  rule(context, () => actionOfStep(context.plan, step, arnOf(context))),
  ...(context.plan.steps[step]!.weights.target > 0 ? [healthyTargets(context)] : []),
]

export const rollbackEffects = (context: EffectContext, isDnsChecked: boolean): readonly Effect[] => [
  ...(isDnsChecked ? [dns(context, 'current')] : []),
  restoredIngress(context),
  action(context, 'rollback-weights', () => rollbackAction(context.plan, arnOf(context)), true),
  releasedOr(context, () => rollbackAction(context.plan, arnOf(context))),
]

/** The one safe order: no rule, then no binding, then no target group. */
export const cleanupEffects = (context: EffectContext, keepsIngress: boolean): readonly Effect[] => [
  detach(context, keepsIngress),
  releasedOr(context, undefined),
  bindingGone(context),
  targetsGone(context),
  targetGroupGone(context),
]

function preflight(context: EffectContext): Effect {
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

export const loadBalancerHostname = (ingress: Ingress | undefined): string | undefined =>
  (ingress?.status as { loadBalancer?: { ingress?: { hostname?: string }[] } } | undefined)?.loadBalancer?.ingress?.[0]
    ?.hostname

/** An existing Ingress gets one annotation; a missing one is made from the plan. */
function targetIngress({ plan, outside }: EffectContext): Effect {
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

function targetGroup({ plan, outside, row }: EffectContext): Effect {
  let arn: string | undefined
  return {
    name: 'target-group',
    async missing() {
      arn = (await outside.balancer.targetGroup(plan.targetGroup.name))?.arn
      return arn === undefined ? `target group ${plan.targetGroup.name} does not exist` : undefined
    },
    async apply(dryRun) {
      // AWS has no dry run for it; the settings were checked by lint and preflight.
      if (!dryRun) arn = await outside.balancer.createTargetGroup(plan)
    },
    learned: () => ({ target_group_arn: arn ?? row().target_group_arn }),
  }
}

function binding(context: EffectContext): Effect {
  const { plan, outside } = context
  return {
    name: 'binding',
    async missing() {
      const live = await outside.target.binding(bindingNamespace(plan), plan.binding.name)
      if (live === undefined) return `there is no TargetGroupBinding ${plan.binding.name}`
      const differences = diffManifests(
        JSON.stringify(live),
        JSON.stringify(bindingOfPlan(plan, arnOf(context))),
      ).filter(({ path }) => path.startsWith('spec'))
      if (differences.length > 0)
        return `TargetGroupBinding ${plan.binding.name} differs in ${differences.map(({ path }) => path).join(', ')}`
      const observed = (live.status as { observedGeneration?: number } | undefined)?.observedGeneration
      return observed === live.metadata.generation
        ? undefined
        : 'the controller of the target cluster has not seen the binding yet'
    },
    apply: (dryRun) => outside.target.apply(bindingOfPlan(plan, arnOf(context)), dryRun),
  }
}

const parsedAction = (text: unknown): unknown => {
  try {
    return JSON.parse(String(text))
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
function attach(context: EffectContext): Effect {
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
function action(context: EffectContext, name: string, wanted: () => ForwardAction, mayBeAbsent = false): Effect {
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

/** The live rules that name the target group, on whatever load balancer it hangs. */
async function liveRules(context: EffectContext): Promise<readonly RuleWeights[]> {
  const { balancer } = context.outside
  const group = await balancer.targetGroup(context.plan.targetGroup.name)
  const rules = await Promise.all((group?.loadBalancerArns ?? []).map((arn) => balancer.rulesNaming(arn, group!.arn)))
  return rules.flat()
}

function ruleProblem(rules: readonly RuleWeights[], wanted: ForwardAction): string | undefined {
  const [current, target] = wanted.forwardConfig.targetGroups.map(({ weight }) => weight)
  const sticky = wanted.forwardConfig.targetGroupStickinessConfig
  const wrong = rules.find(
    (rule) =>
      rule.target !== target ||
      rule.others.length !== 1 ||
      rule.others[0] !== current ||
      rule.isSticky !== sticky.enabled ||
      (sticky.enabled && rule.durationSeconds !== sticky.durationSeconds),
  )
  if (wrong === undefined) return undefined
  return `rule ${wrong.rule} has weights ${wrong.others.join('+')}/${wrong.target}${wrong.isSticky ? ', sticky' : ''}; wanted ${current}/${target}${sticky.enabled ? ', sticky' : ''}`
}

async function withWarning({ plan, outside }: EffectContext, problem: string): Promise<string> {
  const warning = await outside.current
    .warning(plan.current.namespace, plan.current.ingress.name)
    .catch(() => undefined)
  return warning === undefined ? problem : `${problem} (the controller says ${warning})`
}

function rule(context: EffectContext, wanted: () => ForwardAction): Effect {
  return {
    name: 'rule-verified',
    async missing() {
      const rules = await liveRules(context)
      const problem =
        rules.length === 0 ? 'no rule of the load balancer names the target group yet' : ruleProblem(rules, wanted())
      return problem === undefined ? undefined : withWarning(context, problem)
    },
  }
}

/** No rule names the target group, or all of them send it nothing. */
function releasedOr(context: EffectContext, allowed: (() => ForwardAction) | undefined): Effect {
  return {
    name: allowed === undefined ? 'rule-released' : 'rule-rolled-back',
    async missing() {
      const rules = await liveRules(context)
      if (rules.length === 0) return undefined
      const problem =
        allowed === undefined ? `rule ${rules[0]!.rule} still names the target group` : ruleProblem(rules, allowed())
      return problem === undefined ? undefined : withWarning(context, problem)
    },
  }
}

function healthyTargets(context: EffectContext): Effect {
  const { plan, outside } = context
  return {
    name: 'targets-healthy',
    async missing() {
      const { healthy, total, reasons } = await outside.balancer.health(arnOf(context))
      return healthy >= plan.targetGroup.minHealthy
        ? undefined
        : `${healthy} of ${total} targets are healthy, ${plan.targetGroup.minHealthy} needed${reasons.length > 0 ? ` (${reasons.join(', ')})` : ''}`
    },
  }
}

function healthBefore(context: EffectContext, step: number): Effect {
  const { plan, outside } = context
  return {
    name: 'health-before',
    async missing() {
      const { healthy } = await outside.balancer.health(arnOf(context))
      refuseErrors(
        `Step ${step}`,
        lintHealth(plan.steps[step]!.weights, healthy, plan.targetGroup.minHealthy, `steps[${step}].weights.target`),
      )
      return undefined
    },
  }
}

/** Where the host name leads: one address of the wanted balancer and none of the other. */
export function dns({ plan, outside }: EffectContext, side: 'current' | 'target'): Effect {
  const other = side === 'current' ? 'target' : 'current'
  const addressesOfSide = async (which: 'current' | 'target'): Promise<readonly string[]> => {
    const hostname = loadBalancerHostname(await outside[which].ingress(plan[which].namespace, plan[which].ingress.name))
    return hostname === undefined ? [] : outside.addressesOf(hostname)
  }
  return {
    name: `dns-${side}`,
    isInstant: true,
    async missing() {
      const [found, wanted, unwanted] = await Promise.all([
        outside.addressesOf(plan.dns.hostname),
        addressesOfSide(side),
        addressesOfSide(other),
      ])
      if (found.some((address) => wanted.includes(address)) && !found.some((address) => unwanted.includes(address)))
        return undefined
      return `${plan.dns.hostname} resolves to ${found.join(', ') || 'nothing'}, not to the load balancer of the ${side} cluster (${wanted.join(', ') || 'unknown'}). Move the record, then repeat`
    },
  }
}

/** Clean-up may have deleted the Ingress: then it comes back as it was before the switch. */
function restoredIngress(context: EffectContext): Effect {
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

function detach(context: EffectContext, keepsIngress: boolean): Effect {
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

function bindingGone({ plan, outside }: EffectContext): Effect {
  return {
    name: 'binding-deleted',
    missing: async () =>
      (await outside.target.binding(bindingNamespace(plan), plan.binding.name)) === undefined
        ? undefined
        : `TargetGroupBinding ${plan.binding.name} still exists`,
    apply: async (dryRun) => {
      if (!dryRun) await outside.target.deleteBinding(bindingNamespace(plan), plan.binding.name)
    },
  }
}

function targetsGone({ plan, outside }: EffectContext): Effect {
  return {
    name: 'targets-deregistered',
    async missing() {
      const group = await outside.balancer.targetGroup(plan.targetGroup.name)
      const total = group === undefined ? 0 : (await outside.balancer.health(group.arn)).total
      return total === 0 ? undefined : `${total} targets are still registered`
    },
  }
}

function targetGroupGone({ plan, outside }: EffectContext): Effect {
  let arn: string | undefined
  return {
    name: 'target-group-deleted',
    isRepeated: true,
    async missing() {
      arn = (await outside.balancer.targetGroup(plan.targetGroup.name))?.arn
      return arn === undefined ? undefined : `target group ${plan.targetGroup.name} still exists`
    },
    async apply(dryRun) {
      if (!dryRun) await outside.balancer.deleteTargetGroup(arn!)
    },
    learned: () => ({ target_group_arn: null }),
  }
}
