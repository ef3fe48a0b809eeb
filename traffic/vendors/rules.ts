import type { Action, ElasticLoadBalancingV2Client } from '@aws-sdk/client-elastic-load-balancing-v2'

/** A rule of a listener that forwards, its default rule included. */
export interface ForwardRule {
  readonly rule: string
  readonly listener: string
  readonly isDefault: boolean
  readonly groups: readonly { readonly arn: string; readonly weight: number }[]
  readonly isSticky: boolean
  readonly durationSeconds: number | undefined
}

type Aws = typeof import('@aws-sdk/client-elastic-load-balancing-v2')

export async function readRules(
  aws: Aws,
  client: ElasticLoadBalancingV2Client,
  loadBalancerArn: string,
): Promise<readonly ForwardRule[]> {
  const found: ForwardRule[] = []
  for await (const listeners of aws.paginateDescribeListeners({ client }, { LoadBalancerArn: loadBalancerArn })) {
    for (const { ListenerArn } of listeners.Listeners ?? []) {
      for await (const rules of aws.paginateDescribeRules({ client }, { ListenerArn })) {
        for (const { RuleArn, IsDefault, Actions } of rules.Rules ?? [])
          for (const action of Actions ?? [])
            found.push(...forwardOf({ rule: RuleArn!, listener: ListenerArn!, isDefault: IsDefault ?? false }, action))
      }
    }
  }
  return found
}

function forwardOf(
  place: Pick<ForwardRule, 'rule' | 'listener' | 'isDefault'>,
  action: Action,
): readonly ForwardRule[] {
  const single = action.TargetGroupArn === undefined ? [] : [{ TargetGroupArn: action.TargetGroupArn, Weight: 1 }]
  const groups = action.ForwardConfig?.TargetGroups ?? single
  if (groups.length === 0) return []
  const stickiness = action.ForwardConfig?.TargetGroupStickinessConfig
  return [
    {
      ...place,
      groups: groups.map(({ TargetGroupArn, Weight }) => ({ arn: TargetGroupArn!, weight: Weight ?? 1 })),
      isSticky: stickiness?.Enabled ?? false,
      durationSeconds: stickiness?.DurationSeconds,
    },
  ]
}

/** The groups that a rule is to forward to, and its stickiness. */
export type Forward = Pick<ForwardRule, 'groups' | 'isSticky' | 'durationSeconds'>

/** Changes only the forward action: actions before it, authentication above all, stay as they are. */
export async function forwardRule(
  aws: Aws,
  client: ElasticLoadBalancingV2Client,
  { rule, listener, isDefault }: ForwardRule,
  { groups, isSticky, durationSeconds }: Forward,
): Promise<void> {
  const { Rules = [] } = await client.send(new aws.DescribeRulesCommand({ RuleArns: [rule] }))
  const ForwardConfig = {
    TargetGroups: groups.map(({ arn, weight }) => ({ TargetGroupArn: arn, Weight: weight })),
    TargetGroupStickinessConfig: { Enabled: isSticky, ...(isSticky ? { DurationSeconds: durationSeconds } : {}) },
  }
  const actions = (Rules[0]?.Actions ?? []).map((action): Action => {
    if (action.Type === 'forward') return { Type: 'forward', Order: action.Order, ForwardConfig }
    if (action.AuthenticateOidcConfig === undefined) return action
    // AWS never returns the secret, and would ask for it without this.
    return { ...action, AuthenticateOidcConfig: { ...action.AuthenticateOidcConfig, UseExistingClientSecret: true } }
  })
  if (isDefault) await client.send(new aws.ModifyListenerCommand({ ListenerArn: listener, DefaultActions: actions }))
  else await client.send(new aws.ModifyRuleCommand({ RuleArn: rule, Actions: actions }))
}
