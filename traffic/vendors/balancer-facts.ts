import type { ElasticLoadBalancingV2Client } from '@aws-sdk/client-elastic-load-balancing-v2'

export interface Listener {
  readonly port: number
  readonly protocol: string
}

/** The used part of an account's quotas. */
interface Usage {
  readonly groupsInRegion: number
  /** This and the following fields count for one load balancer. */
  readonly groups: number
  readonly rules: number
  readonly targets: number
}

/** Facts that are only looked at, before a switch begins. */
export interface BalancerFacts {
  listeners(loadBalancerArn: string): Promise<readonly Listener[]>
  /** The limits, by the names that AWS gives them. */
  limits(): Promise<ReadonlyMap<string, number>>
  usage(loadBalancerArn: string): Promise<Usage>
}

type Aws = typeof import('@aws-sdk/client-elastic-load-balancing-v2')
type Translate = <T>(what: string, request: () => Promise<T>) => Promise<T>

export const balancerFacts = (aws: Aws, client: ElasticLoadBalancingV2Client, translate: Translate): BalancerFacts => ({
  listeners: (loadBalancerArn) =>
    translate(`read the listeners of ${loadBalancerArn}`, async () => {
      const found: Listener[] = []
      for await (const { Listeners = [] } of aws.paginateDescribeListeners(
        { client },
        { LoadBalancerArn: loadBalancerArn },
      ))
        for (const { Port, Protocol } of Listeners) found.push({ port: Port ?? 0, protocol: Protocol ?? '' })
      return found
    }),
  limits: () =>
    translate('read the quotas of the account', async () => {
      const found = new Map<string, number>()
      for await (const { Limits = [] } of aws.paginateDescribeAccountLimits({ client }, {}))
        for (const { Name, Max } of Limits) if (Name !== undefined) found.set(Name, Number(Max))
      return found
    }),
  usage: (loadBalancerArn) =>
    translate(`count what ${loadBalancerArn} uses`, async () => {
      const groups: { readonly arn: string; readonly isOwn: boolean }[] = []
      for await (const { TargetGroups = [] } of aws.paginateDescribeTargetGroups({ client }, {}))
        for (const { TargetGroupArn, LoadBalancerArns = [] } of TargetGroups)
          groups.push({ arn: TargetGroupArn!, isOwn: LoadBalancerArns.includes(loadBalancerArn) })
      const own = groups.filter(({ isOwn }) => isOwn)
      let [rules, targets] = [0, 0]
      for await (const { Listeners = [] } of aws.paginateDescribeListeners(
        { client },
        { LoadBalancerArn: loadBalancerArn },
      ))
        for (const { ListenerArn } of Listeners)
          for await (const { Rules = [] } of aws.paginateDescribeRules({ client }, { ListenerArn }))
            rules += Rules.filter(({ IsDefault }) => IsDefault !== true).length
      for (const { arn } of own) {
        const { TargetHealthDescriptions = [] } = await client.send(
          new aws.DescribeTargetHealthCommand({ TargetGroupArn: arn }),
        )
        targets += TargetHealthDescriptions.length
      }
      return { groupsInRegion: groups.length, groups: own.length, rules, targets }
    }),
})
