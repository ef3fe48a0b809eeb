/** Does the controller's work for an Ingress and a binding through the real AWS interface. */
import * as elb from '@aws-sdk/client-elastic-load-balancing-v2'
import type { FakeCluster } from '../fake-kubernetes/fake-kubernetes.ts'
import type { Moto } from './moto.ts'

const groupsIn = (text: string): string => String(text.match(/arn:[^"]+/g))

const PREFIX = 'alb.ingress.kubernetes.io/'

export interface MotoController {
  /** Resolves when AWS has everything that the cluster specifies. */
  settled(): Promise<void>
  stop(): Promise<void>
}

export function startMotoController(
  { client, vpcId }: Moto,
  cluster: FakeCluster,
  listener: string,
  pods: readonly string[],
): MotoController {
  const groups = new Map<string, string>()
  const rules = new Map<string, { arn: string; text: string }>()
  let isStopped = false
  let isDue = true
  let working: Promise<void> = Promise.resolve()

  async function ownGroup(ingress: any, name: string, port: number | string): Promise<string> {
    const resource = `${ingress.metadata.namespace}/${ingress.metadata.name}-${name}:${port}`
    const known = groups.get(resource)
    if (known !== undefined) return known
    const { TargetGroups } = await client.send(
      new elb.CreateTargetGroupCommand({
        Name: `k8s-${cluster.url.slice(-5)}-${name}-${port}`,
        Protocol: 'HTTP',
        Port: 80,
        VpcId: vpcId,
        TargetType: 'ip',
        HealthCheckPath: '/ready',
        Matcher: { HttpCode: '200-299' },
        Tags: [{ Key: 'ingress.k8s.aws/resource', Value: resource }],
      }),
    )
    groups.set(resource, TargetGroups![0]!.TargetGroupArn!)
    return TargetGroups![0]!.TargetGroupArn!
  }

  async function actionOf(ingress: any, { service: { name, port } }: any): Promise<elb.Action> {
    const forward = (
      TargetGroups: elb.TargetGroupTuple[],
      sticky: elb.TargetGroupStickinessConfig = { Enabled: false },
    ): elb.Action => ({
      Type: 'forward',
      Order: 1,
      ForwardConfig: { TargetGroups, TargetGroupStickinessConfig: sticky },
    })
    if (port.name !== 'use-annotation')
      return forward([{ TargetGroupArn: await ownGroup(ingress, name, port.number ?? port.name), Weight: 1 }])
    const { forwardConfig } = JSON.parse(ingress.metadata.annotations[`${PREFIX}actions.${name}`])
    const tuples: elb.TargetGroupTuple[] = []
    for (const { targetGroupARN, serviceName, servicePort, weight } of forwardConfig.targetGroups)
      tuples.push({
        TargetGroupArn: targetGroupARN ?? (await ownGroup(ingress, serviceName, servicePort)),
        Weight: weight,
      })
    const { enabled: Enabled, durationSeconds: DurationSeconds } = forwardConfig.targetGroupStickinessConfig
    return forward(tuples, { Enabled, DurationSeconds })
  }

  async function reconcileIngress(ingress: any): Promise<readonly string[]> {
    const keys: string[] = []
    for (const [rule, { http }] of ingress.spec.rules.entries()) {
      for (const [path, { backend }] of http.paths.entries()) {
        const key = `${ingress.metadata.name}/${rule}/${path}`
        const Actions = [await actionOf(ingress, backend)]
        const text = JSON.stringify(Actions)
        const known = rules.get(key)
        keys.push(key)
        if (known?.text === text) continue
        const isOther = known !== undefined && groupsIn(known.text) !== groupsIn(text)
        // moto learns the load balancer of a target group only from new rules.
        if (isOther) await client.send(new elb.DeleteRuleCommand({ RuleArn: known.arn }))
        if (known === undefined || isOther) {
          const Conditions = [{ Field: 'path-pattern', Values: [`/${rule}/${path}`] }]
          const input = { ListenerArn: listener, Priority: rule * 10 + path + 1, Conditions, Actions }
          const made = await client.send(new elb.CreateRuleCommand(input))
          rules.set(key, { arn: made.Rules![0]!.RuleArn!, text })
        } else {
          await client.send(new elb.ModifyRuleCommand({ RuleArn: known.arn, Actions }))
          rules.set(key, { ...known, text })
        }
      }
    }
    return keys
  }

  async function reconcileBinding(binding: any): Promise<void> {
    const { targetGroupARN: TargetGroupArn, networking } = binding.spec
    const Targets = pods.map((Id) => ({ Id, Port: networking.ingress[0].ports[0].port }))
    if (binding.metadata.deletionTimestamp !== undefined) {
      await client.send(new elb.DeregisterTargetsCommand({ TargetGroupArn, Targets }))
      cluster.update(binding, (object) => (object.metadata.finalizers = []))
      return
    }
    await client.send(new elb.RegisterTargetsCommand({ TargetGroupArn, Targets }))
    cluster.update(binding, (object) => {
      object.metadata.finalizers = ['elbv2.k8s.aws/resources']
      object.status = { observedGeneration: object.metadata.generation }
    })
  }

  async function reconcile(): Promise<void> {
    const wanted: string[] = []
    for (const object of [...cluster.objects.values()]) {
      if (object.kind === 'TargetGroupBinding') await reconcileBinding(object)
      if (object.kind === 'Ingress') wanted.push(...(await reconcileIngress(object)))
    }
    for (const [key, { arn }] of rules) {
      if (wanted.includes(key)) continue
      await client.send(new elb.DeleteRuleCommand({ RuleArn: arn }))
      rules.delete(key)
    }
  }

  async function work(): Promise<void> {
    while (isDue && !isStopped) {
      isDue = false
      await reconcile()
    }
  }
  const wake = (): void => {
    isDue = true
    working = working.then(work)
  }
  cluster.onChange = wake
  wake()
  return {
    async settled() {
      wake()
      await working
    },
    async stop() {
      isStopped = true
      await working
    },
  }
}
