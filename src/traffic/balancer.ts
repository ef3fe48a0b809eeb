import type {
  Action,
  ElasticLoadBalancingV2Client,
  TargetGroup as SdkTargetGroup,
} from '@aws-sdk/client-elastic-load-balancing-v2'
import { messageOf, RetryableError, UserError } from '../errors.ts'
import { TrafficError } from './finding.ts'
import type { LoadBalancer, TargetGroup } from './lint-live.ts'
import type { Plan } from './plan.ts'
import { targetGroupTags } from './render.ts'

export interface Health {
  readonly healthy: number
  readonly total: number
  /** Why targets are not healthy, as AWS names it. */
  readonly reasons: readonly string[]
}

/** The forward actions of live rules that name a target group. */
export interface RuleWeights {
  readonly rule: string
  readonly target: number
  readonly others: readonly number[]
  readonly isSticky: boolean
  readonly durationSeconds: number | undefined
}

export interface Balancer {
  loadBalancer(dnsName: string): Promise<LoadBalancer | undefined>
  targetGroup(name: string): Promise<TargetGroup | undefined>
  createTargetGroup(plan: Plan): Promise<string>
  /** False while a rule still refers to it. */
  deleteTargetGroup(arn: string): Promise<boolean>
  health(arn: string): Promise<Health>
  rulesNaming(loadBalancerArn: string, targetGroupArn: string): Promise<readonly RuleWeights[]>
}

export async function openBalancer(region: string): Promise<Balancer> {
  const aws = await import('@aws-sdk/client-elastic-load-balancing-v2')
  // Credentials and endpoint come from the usual chain: AWS_PROFILE, AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2 …
  const client: ElasticLoadBalancingV2Client = new aws.ElasticLoadBalancingV2Client({ region })
  const describe = async (input: {
    Names?: string[]
    TargetGroupArns?: string[]
  }): Promise<SdkTargetGroup | undefined> => {
    const { TargetGroups = [] } = await orAbsent(client.send(new aws.DescribeTargetGroupsCommand(input)), {
      TargetGroups: [],
    })
    return TargetGroups[0]
  }
  return {
    loadBalancer: (dnsName) =>
      translate(`find load balancer ${dnsName}`, async () => {
        for await (const page of aws.paginateDescribeLoadBalancers({ client }, {})) {
          const found = page.LoadBalancers?.find(({ DNSName }) => DNSName?.toLowerCase() === dnsName.toLowerCase())
          if (found !== undefined)
            return { arn: found.LoadBalancerArn!, vpcId: found.VpcId!, securityGroups: found.SecurityGroups ?? [] }
        }
        return undefined
      }),
    async targetGroup(name) {
      const found = await translate(`read target group ${name}`, () => describe({ Names: [name] }))
      return found === undefined ? undefined : targetGroupOf(found)
    },
    async createTargetGroup(plan) {
      const { targetGroup } = plan
      const { healthCheck } = targetGroup
      const answer = await translate(`create target group ${targetGroup.name}`, () =>
        client.send(
          new aws.CreateTargetGroupCommand({
            Name: targetGroup.name,
            Protocol: targetGroup.protocol,
            ProtocolVersion: targetGroup.protocolVersion,
            Port: targetGroup.port,
            VpcId: targetGroup.vpcId,
            TargetType: targetGroup.targetType,
            IpAddressType: targetGroup.ipAddressType,
            HealthCheckPath: healthCheck.path,
            HealthCheckIntervalSeconds: healthCheck.intervalSeconds,
            HealthCheckTimeoutSeconds: healthCheck.timeoutSeconds,
            HealthyThresholdCount: healthCheck.healthyThreshold,
            UnhealthyThresholdCount: healthCheck.unhealthyThreshold,
            Matcher: { HttpCode: healthCheck.successCodes },
            Tags: Object.entries(targetGroupTags(plan)).map(([Key, Value]) => ({ Key, Value })),
          }),
        ),
      )
      return answer.TargetGroups![0]!.TargetGroupArn!
    },
    deleteTargetGroup: (arn) =>
      translate(`delete target group ${arn}`, async () => {
        try {
          await orAbsent(client.send(new aws.DeleteTargetGroupCommand({ TargetGroupArn: arn })), undefined)
          return true
        } catch (error) {
          if (error instanceof aws.ResourceInUseException) return false
          throw error
        }
      }),
    async health(arn) {
      const { TargetHealthDescriptions: targets = [] } = await translate(`read target health of ${arn}`, () =>
        orAbsent(client.send(new aws.DescribeTargetHealthCommand({ TargetGroupArn: arn })), {
          TargetHealthDescriptions: [],
        }),
      )
      const states = targets.map(({ TargetHealth }) => TargetHealth)
      return {
        healthy: states.filter((health) => health?.State === 'healthy').length,
        total: states.length,
        reasons: [
          ...new Set(
            states
              .filter((health) => health?.State !== 'healthy')
              .map((health) => health?.Reason ?? health?.State ?? 'unknown'),
          ),
        ],
      }
    },
    rulesNaming: (loadBalancerArn, targetGroupArn) =>
      translate(`read the rules of ${loadBalancerArn}`, async () => {
        const found: RuleWeights[] = []
        for await (const listeners of aws.paginateDescribeListeners({ client }, { LoadBalancerArn: loadBalancerArn })) {
          for (const { ListenerArn } of listeners.Listeners ?? []) {
            for await (const rules of aws.paginateDescribeRules({ client }, { ListenerArn })) {
              for (const { RuleArn, Actions } of rules.Rules ?? []) {
                for (const action of Actions ?? []) found.push(...weightsOf(RuleArn!, action, targetGroupArn))
              }
            }
          }
        }
        return found
      }),
  }
}

function weightsOf(rule: string, action: Action, arn: string): readonly RuleWeights[] {
  const groups = action.ForwardConfig?.TargetGroups ?? []
  const own = groups.find(({ TargetGroupArn }) => TargetGroupArn === arn)
  if (own === undefined) return []
  const stickiness = action.ForwardConfig?.TargetGroupStickinessConfig
  return [
    {
      rule,
      target: own.Weight ?? 1,
      others: groups.filter((group) => group !== own).map(({ Weight }) => Weight ?? 1),
      isSticky: stickiness?.Enabled ?? false,
      durationSeconds: stickiness?.DurationSeconds,
    },
  ]
}

const targetGroupOf = (group: SdkTargetGroup): TargetGroup => ({
  arn: group.TargetGroupArn!,
  protocol: group.Protocol ?? '',
  port: group.Port ?? 0,
  vpcId: group.VpcId ?? '',
  targetType: group.TargetType ?? '',
  loadBalancerArns: group.LoadBalancerArns ?? [],
})

const ABSENT = new Set(['TargetGroupNotFoundException', 'LoadBalancerNotFoundException'])

/** What is not there is an answer, not a failure. */
async function orAbsent<T, O>(request: Promise<T>, otherwise: O): Promise<T | O> {
  try {
    return await request
  } catch (error) {
    if (ABSENT.has((error as Error).name)) return otherwise
    throw error
  }
}

async function translate<T>(what: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
    const text = `${(error as Error).name}: ${messageOf(error)}`
    if ((error as Error).name === 'DuplicateTargetGroupNameException') {
      throw new TrafficError(
        'conflict',
        `Cannot ${what}: one with that name and other settings exists. Choose another targetGroup.name.`,
        { cause: error },
      )
    }
    if ((error as Error).name === 'CredentialsProviderError') {
      throw new UserError(`Cannot ${what}: no AWS credentials were found. Set AWS_PROFILE or AWS_ACCESS_KEY_ID.`, {
        cause: error,
      })
    }
    if (status === undefined || status === 429 || status >= 500)
      throw new RetryableError(`Cannot ${what}: ${text}`, { cause: error })
    throw new UserError(`AWS refused to ${what}. ${text}`, { status: 502, cause: error })
  }
}
