import { ElbError, type FakeElb, type FakeForward } from './fake-elbv2.ts'
import type { FakeCluster } from './fake-kubernetes.ts'

const PREFIX = 'alb.ingress.kubernetes.io/'

export interface FakeController {
  /** While true, nothing is reconciled: a controller that is down or throttled. */
  isPaused: boolean
  reconcile(): void
}

/** Does what AWS Load Balancer Controller does with Ingresses and bindings of one cluster, by the same rules. */
export function startFakeController(
  cluster: FakeCluster,
  elb: FakeElb,
  balancer: { arn: string },
  pods: readonly string[],
): FakeController {
  const deployed = new Set<string>()
  const ownGroup = (name: string): string =>
    elb.createGroup({
      Name: `k8s-${cluster.url.slice(-5)}-${name}`.slice(0, 32),
      Protocol: 'HTTP',
      Port: '80',
      VpcId: 'vpc-0123456789abcdef0',
      TargetType: 'ip',
      IpAddressType: 'ipv4',
    }).arn

  const controller: FakeController = {
    isPaused: false,
    reconcile() {
      if (controller.isPaused) return
      for (const object of [...cluster.objects.values()]) {
        if (object.kind === 'TargetGroupBinding') reconcileBinding(object)
      }
      const wanted = new Set<string>()
      for (const object of [...cluster.objects.values()]) {
        if (object.kind === 'Ingress') for (const key of reconcileIngress(object)) wanted.add(key)
      }
      for (const key of deployed) {
        if (!wanted.has(key)) {
          elb.deleteRule(key)
          deployed.delete(key)
        }
      }
    },
  }

  function reconcileIngress(ingress: any): readonly string[] {
    if (ingress.metadata.deletionTimestamp !== undefined) {
      cluster.update(ingress, (object) => (object.metadata.finalizers = []))
      return []
    }
    const keys: string[] = []
    const before = [...deployed].filter((key) => key.startsWith(`${cluster.url}/${ingress.metadata.name}/`))
    try {
      for (const [rule, { http }] of ingress.spec.rules.entries()) {
        for (const [path, { backend }] of http.paths.entries()) {
          const key = `${cluster.url}/${ingress.metadata.name}/${rule}/${path}`
          elb.putRule(key, balancer.arn, actionOf(ingress, backend, key))
          deployed.add(key)
          keys.push(key)
        }
      }
      return keys
    } catch (error) {
      const reason = error instanceof ElbError ? 'FailedDeployModel' : 'FailedBuildModel'
      cluster.warn(
        ingress,
        reason,
        `${reason === 'FailedDeployModel' ? 'Failed deploy model due to' : `Failed build model due to ingress: ${ingress.metadata.namespace}/${ingress.metadata.name}:`} ${(error as Error).message}`,
      )
      return before
    }
  }

  function actionOf(ingress: any, backend: any, key: string): FakeForward | { fixedResponse: number } {
    const { name, port } = backend.service
    if (port.name !== 'use-annotation')
      return { groups: [{ arn: ownGroup(name), weight: 1 }], stickiness: { enabled: false } }
    const text = ingress.metadata.annotations?.[`${PREFIX}actions.${name}`]
    if (text === undefined) return { fixedResponse: 503 }
    const { forwardConfig } = JSON.parse(text)
    if (
      forwardConfig.targetGroups.length > 1 &&
      forwardConfig.targetGroups.some(({ weight }: any) => weight === undefined)
    ) {
      throw new Error('invalid ForwardConfig: weight must be set when route to multiple target groups')
    }
    const groups = forwardConfig.targetGroups.map((entry: any) => ({
      arn: entry.targetGroupARN ?? ownGroup(entry.serviceName),
      weight: entry.weight,
    }))
    // Left out means: as it was.
    const before = elb.rules.get(key)?.action
    const kept = before !== undefined && 'stickiness' in before ? before.stickiness : { enabled: false }
    return { groups, stickiness: forwardConfig.targetGroupStickinessConfig ?? kept }
  }

  function reconcileBinding(binding: any): void {
    const { targetGroupARN: arn, networking } = binding.spec
    const targets = pods.map((ip) => `${ip}:${networking.ingress[0].ports[0].port}`)
    if (binding.metadata.deletionTimestamp !== undefined) {
      elb.deregister(arn, targets)
      cluster.update(binding, (object) => (object.metadata.finalizers = []))
      return
    }
    elb.register(arn, targets)
    cluster.update(binding, (object) => {
      object.metadata.finalizers = ['elbv2.k8s.aws/resources']
      object.status = { observedGeneration: object.metadata.generation }
    })
  }

  let isScheduled = false
  cluster.onChange = () => {
    if (isScheduled) return
    isScheduled = true
    // Never in the same breath as the change: a real controller is late, too.
    setTimeout(() => {
      isScheduled = false
      controller.reconcile()
    }, 2)
  }
  return controller
}
