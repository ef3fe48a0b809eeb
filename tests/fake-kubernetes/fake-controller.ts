import { ElbError, type FakeElb, type FakeForward } from '../fake-aws/fake-elbv2.ts'
import type { FakeCluster } from './fake-kubernetes.ts'

const PREFIX = 'alb.ingress.kubernetes.io/'

export interface FakeController {
  /** While true, nothing is reconciled, as with a controller that is down or throttled. */
  isPaused: boolean
  /** The number of rules written in one pass. The real controller changes about three per second. */
  rulesAtOnce: number
  /** If true, the controller works only when `reconcile` is called. */
  isByHand: boolean
  reconcile(): void
}

/** Handles Ingresses and bindings of one cluster as AWS Load Balancer Controller does, by the same rules. */
export function startFakeController(
  cluster: FakeCluster,
  elb: FakeElb,
  balancerOf: (ingress: any) => { arn: string },
  pods: readonly string[],
): FakeController {
  const deployed = new Set<string>()
  /** Returns the target group of an Ingress, Service and notation of the port. The controller's tags contain the same parts. */
  const ownGroup = (ingress: any, name: string, port: number | string): string => {
    const service = cluster.get('Service', ingress.metadata.namespace, name)
    const group = elb.createGroup({
      Name: `k8s-${cluster.url.slice(-5)}-${ingress.metadata.name}-${name}-${port}`.slice(0, 32),
      Protocol: 'HTTP',
      Port: '80',
      VpcId: 'vpc-0123456789abcdef0',
      TargetType: 'ip',
      IpAddressType: 'ipv4',
      HealthCheckProtocol: 'HTTP',
      HealthCheckPort: '8081',
      HealthCheckPath: '/ready',
      HealthCheckIntervalSeconds: '7',
      HealthCheckTimeoutSeconds: '3',
      'Matcher.HttpCode': '200-299',
    })
    group.tags.set('ingress.k8s.aws/resource', `${ingress.metadata.namespace}/${ingress.metadata.name}-${name}:${port}`)
    // An attribute that is left out keeps its value.
    for (const pair of (service?.metadata.annotations?.[`${PREFIX}target-group-attributes`] ?? '').split(',')) {
      const [key, value] = pair.split('=')
      if (value !== undefined) group.attributes.set(key, value)
    }
    return group.arn
  }

  const controller: FakeController = {
    isPaused: false,
    rulesAtOnce: Number.POSITIVE_INFINITY,
    isByHand: false,
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
    let isRefused = false
    try {
      const wanted: Parameters<FakeElb['putRule']>[] = []
      for (const [rule, { http }] of ingress.spec.rules.entries()) {
        for (const [path, { backend }] of http.paths.entries()) {
          for (let listener = 1; listener <= elb.listeners; listener++) {
            const key = `${cluster.url}/${ingress.metadata.name}/${rule}/${path}${listener === 1 ? '' : `/${listener}`}`
            wanted.push([
              key,
              balancerOf(ingress).arn,
              actionOf(ingress, backend, key),
              guardsOf(ingress, backend),
              listener,
            ])
            keys.push(key)
          }
        }
      }
      const changes = wanted.filter(([key, , action, guards]) => {
        const rule = elb.rules.get(key)
        return rule === undefined || JSON.stringify([rule.action, rule.guards]) !== JSON.stringify([action, guards])
      })
      for (const change of changes.slice(0, controller.rulesAtOnce)) {
        try {
          elb.putRule(...change)
          deployed.add(change[0])
        } catch (error) {
          // A refused rule stays as it was, but the other rules are changed.
          if (!(error instanceof ElbError)) throw error
          isRefused = true
          warn(ingress, error)
        }
      }
      if (changes.length > controller.rulesAtOnce && !isRefused) schedule()
      return keys
    } catch (error) {
      warn(ingress, error as Error)
      return before
    }
  }

  function warn(ingress: any, error: Error): void {
    const { namespace, name } = ingress.metadata
    if (error instanceof ElbError)
      cluster.warn(ingress, 'FailedDeployModel', `Failed deploy model due to ${error.message}`)
    else
      cluster.warn(
        ingress,
        'FailedBuildModel',
        `Failed build model due to ingress: ${namespace}/${name}: ${error.message}`,
      )
  }

  /** Conditions and transforms depend on the name of the backend. Authentication of a Service holds only for its own rule. */
  function guardsOf(ingress: any, backend: any): readonly string[] {
    const { name, port } = backend.service
    const own = ['conditions', 'transforms'].flatMap((kind) => {
      const text = ingress.metadata.annotations?.[`${PREFIX}${kind}.${name}`]
      return text === undefined ? [] : [`${kind} ${text}`]
    })
    const ofService =
      port.name === 'use-annotation'
        ? undefined
        : cluster.get('Service', ingress.metadata.namespace, name)?.metadata.annotations
    const type = ofService?.[`${PREFIX}auth-type`] ?? ingress.metadata.annotations?.[`${PREFIX}auth-type`]
    return type === undefined ? own : [...own, `authenticate-${type}`]
  }

  function actionOf(ingress: any, backend: any, key: string): FakeForward | { fixedResponse: number } {
    const { name, port } = backend.service
    if (port.name !== 'use-annotation')
      return {
        groups: [{ arn: ownGroup(ingress, name, port.number ?? port.name), weight: 1 }],
        stickiness: { enabled: false },
      }
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
      arn: entry.targetGroupARN ?? ownGroup(ingress, entry.serviceName, entry.servicePort),
      weight: entry.weight,
    }))
    // A setting that is left out keeps its value.
    const before = elb.rules.get(key)?.action
    const kept = before !== undefined && 'stickiness' in before ? before.stickiness : { enabled: false }
    return { groups, stickiness: forwardConfig.targetGroupStickinessConfig ?? kept }
  }

  function reconcileBinding(binding: any): void {
    const { targetGroupARN: arn, networking } = binding.spec
    const targets = pods.map((ip) => `${ip}:${networking?.ingress?.[0]?.ports[0]?.port ?? 8080}`)
    if (binding.metadata.deletionTimestamp !== undefined) {
      elb.deregister(arn, targets)
      cluster.update(binding, (object) => (object.metadata.finalizers = []))
      return
    }
    try {
      elb.register(arn, targets)
    } catch (error) {
      if (!(error instanceof ElbError)) throw error
      cluster.warn(binding, 'FailedReconcile', error.message)
      return
    }
    cluster.update(binding, (object) => {
      object.metadata.finalizers = ['elbv2.k8s.aws/resources']
      object.status = { observedGeneration: object.metadata.generation }
    })
  }

  let isScheduled = false
  function schedule(): void {
    if (isScheduled || controller.isByHand) return
    isScheduled = true
    // Never immediately after the change: a real controller is late too.
    setTimeout(() => {
      isScheduled = false
      controller.reconcile()
    }, 2)
  }
  cluster.onChange = schedule
  return controller
}
