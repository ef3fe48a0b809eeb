import type {
  ElasticLoadBalancingV2Client,
  TargetGroup as SdkTargetGroup,
} from '@aws-sdk/client-elastic-load-balancing-v2'
import { loadElbV2 } from 'weir-traffic'
import type { LoadBalancer, TargetGroup } from '../lint/live.ts'
import { healthCheckOf, type Mirrored } from '../model/health-check.ts'
import type { RoutePlan } from '../model/plan.ts'
import { targetGroupTags } from '../render/render.ts'
import { orAbsent, patience, translate } from './aws-answers.ts'
import { type AnswerClock, observed } from './aws-client.ts'
import { type BalancerFacts, balancerFacts } from './balancer-facts.ts'
import { CALL_MS } from './call-time.ts'
import { type Forward, type ForwardRule, forwardRule, readRules } from './rules.ts'

export interface Health {
  readonly healthy: number
  /** Targets that should answer. Those that are draining are neither healthy nor unhealthy. */
  readonly total: number
  readonly draining: number
  /** The reasons why targets are not healthy, as AWS names them. */
  readonly reasons: readonly string[]
}

export interface Balancer extends BalancerFacts {
  loadBalancer(dnsName: string): Promise<LoadBalancer | undefined>
  targetGroup(name: string): Promise<TargetGroup | undefined>
  /** The group of a load balancer that the controller made for `namespace/ingress-service:port`. */
  groupOfResource(loadBalancerArn: string, resource: string): Promise<Mirrored | undefined>
  createTargetGroup(plan: RoutePlan, mirrored: Mirrored | undefined): Promise<string>
  /** Returns false while a rule still refers to it. */
  deleteTargetGroup(arn: string): Promise<boolean>
  attributes(arn: string): Promise<Readonly<Record<string, string>>>
  setAttributes(arn: string, attributes: Readonly<Record<string, string>>): Promise<void>
  health(arn: string): Promise<Health>
  rules(loadBalancerArn: string): Promise<readonly ForwardRule[]>
  /** Bypasses the controller, when it does not follow or cannot be told. */
  forward(rule: ForwardRule, wanted: Forward): Promise<void>
}

/** The tag in which the controller notes whose target group it is. */
const RESOURCE_TAG = 'ingress.k8s.aws/resource'
/** The most groups that one request for tags may name. */
const TAGS_AT_ONCE = 20

export async function openBalancer(region: string, callMs = CALL_MS, clock?: AnswerClock): Promise<Balancer> {
  const aws = await loadElbV2()
  // Credentials and endpoint come from the usual chain: AWS_PROFILE, AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2 …
  const client: ElasticLoadBalancingV2Client = observed(
    new aws.ElasticLoadBalancingV2Client({ region, ...patience(callMs) }),
    'elasticloadbalancing',
    clock,
  )
  const describe = async (input: {
    Names?: string[]
    TargetGroupArns?: string[]
  }): Promise<SdkTargetGroup | undefined> => {
    const { TargetGroups = [] } = await orAbsent(client.send(new aws.DescribeTargetGroupsCommand(input)), {
      TargetGroups: [],
    })
    return TargetGroups[0]
  }
  const attributesOf = async (arn: string): Promise<Record<string, string>> => {
    const request = client.send(new aws.DescribeTargetGroupAttributesCommand({ TargetGroupArn: arn }))
    const { Attributes = [] } = await orAbsent(request, { Attributes: [] })
    return Object.fromEntries(Attributes.map(({ Key, Value }) => [Key!, Value ?? '']))
  }
  return {
    ...balancerFacts(aws, client, translate),
    loadBalancer: (dnsName) =>
      translate(`find load balancer ${dnsName}`, async () => {
        for await (const page of aws.paginateDescribeLoadBalancers({ client }, {})) {
          const found = page.LoadBalancers?.find(({ DNSName }) => DNSName?.toLowerCase() === dnsName.toLowerCase())
          if (found !== undefined)
            return {
              arn: found.LoadBalancerArn!,
              vpcId: found.VpcId!,
              securityGroups: found.SecurityGroups ?? [],
              dnsName: found.DNSName!,
              zoneId: found.CanonicalHostedZoneId ?? '',
              zones: (found.AvailabilityZones ?? []).flatMap(({ ZoneName }) => ZoneName ?? []),
            }
        }
        return undefined
      }),
    async targetGroup(name) {
      const found = await translate(`read target group ${name}`, () => describe({ Names: [name] }))
      return found === undefined ? undefined : targetGroupOf(found)
    },
    groupOfResource: (loadBalancerArn, resource) =>
      translate(`find the target group of ${resource}`, async () => {
        const groups: SdkTargetGroup[] = []
        const input = { LoadBalancerArn: loadBalancerArn }
        for await (const page of aws.paginateDescribeTargetGroups({ client }, input))
          groups.push(...(page.TargetGroups ?? []))
        for (let from = 0; from < groups.length; from += TAGS_AT_ONCE) {
          const some = groups.slice(from, from + TAGS_AT_ONCE).map(({ TargetGroupArn }) => TargetGroupArn!)
          const { TagDescriptions = [] } = await client.send(new aws.DescribeTagsCommand({ ResourceArns: some }))
          const own = TagDescriptions.find(({ Tags = [] }) =>
            Tags.some(({ Key, Value }) => Key === RESOURCE_TAG && Value === resource),
          )
          const found = groups.find(({ TargetGroupArn }) => TargetGroupArn === own?.ResourceArn)
          if (own !== undefined && found !== undefined)
            return { ...mirroredOf(found), attributes: await attributesOf(found.TargetGroupArn!) }
        }
        return undefined
      }),
    async createTargetGroup(plan, mirrored) {
      const { targetGroup } = plan
      const healthCheck = healthCheckOf(plan, mirrored)
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
            HealthCheckProtocol: healthCheck.protocol,
            HealthCheckPort: healthCheck.port,
            HealthCheckPath: healthCheck.path,
            HealthCheckIntervalSeconds: healthCheck.intervalSeconds,
            HealthCheckTimeoutSeconds: healthCheck.timeoutSeconds,
            HealthyThresholdCount: healthCheck.healthyThreshold,
            UnhealthyThresholdCount: healthCheck.unhealthyThreshold,
            Matcher:
              targetGroup.protocolVersion === 'GRPC'
                ? { GrpcCode: healthCheck.successCodes }
                : { HttpCode: healthCheck.successCodes },
            Tags: Object.entries(targetGroupTags(plan)).map(([Key, Value]) => ({ Key, Value })),
          }),
        ),
      )
      return answer.TargetGroups![0]!.TargetGroupArn!
    },
    attributes: (arn) => translate(`read the attributes of ${arn}`, () => attributesOf(arn)),
    async setAttributes(arn, attributes) {
      const Attributes = Object.entries(attributes).map(([Key, Value]) => ({ Key, Value }))
      await translate(`set the attributes of ${arn}`, () =>
        client.send(new aws.ModifyTargetGroupAttributesCommand({ TargetGroupArn: arn, Attributes })),
      )
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
      const standing = states.filter((health) => health?.State !== 'draining')
      const sick = standing.filter((health) => health?.State !== 'healthy')
      return {
        healthy: standing.length - sick.length,
        total: standing.length,
        draining: states.length - standing.length,
        reasons: [...new Set(sick.map((health) => health?.Reason ?? health?.State ?? 'unknown'))],
      }
    },
    rules: (loadBalancerArn) =>
      translate(`read the rules of ${loadBalancerArn}`, () => orAbsent(readRules(aws, client, loadBalancerArn), [])),
    // A rule that was deleted meanwhile sends nobody anywhere.
    forward: (rule, wanted) =>
      translate(`change rule ${rule.rule}`, () => orAbsent(forwardRule(aws, client, rule, wanted), undefined)),
  }
}

const mirroredOf = (group: SdkTargetGroup): Omit<Mirrored, 'attributes'> => ({
  arn: group.TargetGroupArn!,
  protocol: group.Protocol,
  protocolVersion: group.ProtocolVersion,
  ipAddressType: group.IpAddressType,
  healthCheck: {
    protocol: group.HealthCheckProtocol as Mirrored['healthCheck']['protocol'],
    port: group.HealthCheckPort,
    path: group.HealthCheckPath,
    intervalSeconds: group.HealthCheckIntervalSeconds,
    timeoutSeconds: group.HealthCheckTimeoutSeconds,
    healthyThreshold: group.HealthyThresholdCount,
    unhealthyThreshold: group.UnhealthyThresholdCount,
    successCodes: group.Matcher?.GrpcCode ?? group.Matcher?.HttpCode,
  },
})

const targetGroupOf = (group: SdkTargetGroup): TargetGroup => ({
  arn: group.TargetGroupArn!,
  protocol: group.Protocol ?? '',
  port: group.Port ?? 0,
  vpcId: group.VpcId ?? '',
  targetType: group.TargetType ?? '',
  loadBalancerArns: group.LoadBalancerArns ?? [],
})
