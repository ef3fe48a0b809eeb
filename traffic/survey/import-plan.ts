/** Makes a plan of what is live. Anything that cannot be known for certain is asked, never guessed. */
import { lintPlan } from '../lint/plan.ts'
import { ANNOTATION_PREFIX } from '../model/action.ts'
import { errorsIn, TrafficError } from '../model/finding.ts'
import { GROUP_NAME, MULTI_CLUSTER } from '../model/ingress.ts'
import { PRESETS } from '../model/init.ts'
import { findPort, type Ingress, type Service } from '../model/manifests.ts'
import { textOf } from '../model/names.ts'
import { readPlan } from '../model/plan.ts'
import { routesOf } from '../model/routes.ts'
import type { Balancer } from '../vendors/balancer.ts'
import { choosePlace, distinct, type NamedPlace, type Place, placesIn } from './choose-place.ts'
import { type Network, networkOf } from './import-network.ts'
import type { Choose, Imported, ImportPlaces, ImportQuestion, ImportRequest, ReadableCluster } from './import-types.ts'

/** The annotations that describe the load balancer. Those that belong to one switch or one tool are left out. */
const annotationsOf = (ingress: Ingress): Record<string, string> =>
  Object.fromEntries(
    Object.entries(ingress.metadata.annotations ?? {})
      .filter(([key]) => key.startsWith(ANNOTATION_PREFIX) && key !== GROUP_NAME && key !== MULTI_CLUSTER)
      .filter(([key]) => !/^(?:actions|conditions|transforms)\./.test(key.slice(ANNOTATION_PREFIX.length)))
      .map(([key, value]) => [key, textOf(value)]),
  )

const groupOf = (ingress: Ingress): { groupName?: string } => {
  const name = ingress.metadata.annotations?.[GROUP_NAME]
  return name === undefined ? {} : { groupName: textOf(name) }
}

const portValue = ({ port, isNumber }: Pick<Place, 'port' | 'isNumber'>): number | string =>
  isNumber ? Number(port) : port

const absent = (kind: string, namespace: string, name: string, cluster: string): TrafficError =>
  new TrafficError('invalid', `There is no ${kind} ${namespace}/${name} in cluster ${cluster}. Correct the name.`)

/** Refuses two applications that were named by mistake: a switch would send the clients of one to the other. */
function refuseOtherApplication(current: Ingress, target: Ingress, host: string): void {
  const hostsOf = (ingress: Ingress) => distinct((ingress.spec.rules ?? []).flatMap((rule) => rule.host ?? []))
  const own = hostsOf(current)
  const others = hostsOf(target)
  if (others.length === 0 || [host, ...own].some((each) => others.includes(each))) return
  throw new TrafficError(
    'invalid',
    `These are two applications: Ingress ${current.metadata.name} of the current cluster serves ${own.join(', ') || host}, and Ingress ${target.metadata.name} of the target cluster serves ${others.join(', ')}. Name the Ingress of the same application in both clusters.`,
  )
}

export async function importPlan(request: ImportRequest, places: ImportPlaces): Promise<Imported> {
  const questions: ImportQuestion[] = []
  /** Takes the only candidate, or the one that was named, or asks a question. */
  const choose: Choose = (field, text, among, say, hint = () => '') => {
    const wanted = request[field]
    const found = wanted === undefined ? among : among.filter((each) => say(each) === String(wanted))
    if (found.length === 1) return found[0]!
    const choices = distinct(among.map(say))
    const hints = choices.map(hint)
    questions.push({
      field,
      text: wanted === undefined ? text : `${text} ${String(wanted)} is none of them.`,
      choices,
      hints,
    })
    return undefined
  }
  const { namespace } = request
  const targetNamespace = request.targetNamespace ?? namespace
  const current = await places.current.ingress(namespace, request.ingress)
  if (current === undefined) throw absent('Ingress', namespace, request.ingress, places.current.name)
  const target = await places.target.ingress(targetNamespace, request.targetIngress ?? request.ingress)
  if (target === undefined && request.createTargetIngress !== true)
    questions.push({
      field: 'createTargetIngress',
      text: `Cluster ${places.target.name} has no Ingress ${targetNamespace}/${request.targetIngress ?? request.ingress}. Name it, create it, or let prepare make one like the current.`,
      choices: ['true'],
      hints: [`prepare makes it like Ingress ${namespace}/${request.ingress}`],
    })

  const place = choosePlace(current, request.host, choose)
  if (place === undefined) return { plan: undefined, questions, findings: [] }
  const service = await places.current.service(namespace, place.service)
  if (service === undefined) throw absent('Service', namespace, place.service, places.current.name)

  if (target !== undefined) refuseOtherApplication(current, target, place.hostname)
  const at = { service: place.service, port: place.port }
  const network = await networkOf({ request, places, current, ...at, choose, questions })
  if (network === undefined && !questions.some(({ field }) => field === 'sourceSecurityGroup'))
    return { plan: undefined, questions, findings: [] }
  const backend = await targetBackend(request, places, target, place, targetNamespace, choose)
  const names = await chooseNames(request, places, network?.balancer, place, questions)
  if (network === undefined || backend === undefined || questions.length > 0)
    return { plan: undefined, questions, findings: [] }
  const drawn = draw({ request, current, target, place, network, backend, names })
  const { plan, findings } = readPlan(drawn)
  const all = plan === undefined ? findings : lintPlan(plan)
  const [one] = plan === undefined || errorsIn(all).length > 0 ? [] : routesOf(plan)
  return { plan: one, questions, findings: all }
}

interface TargetBackend {
  readonly service: { readonly name: string; readonly port: number | string }
  readonly containerPort: number
}

async function targetBackend(
  request: ImportRequest,
  { target: cluster }: ImportPlaces,
  ingress: Ingress | undefined,
  current: Place,
  namespace: string,
  choose: Choose,
): Promise<TargetBackend | undefined> {
  const candidates =
    ingress === undefined
      ? [current]
      : placesIn(ingress).filter(({ host, path }) => host === current.host && path === current.path)
  const where = `${current.host ?? ''}${current.path} in cluster ${cluster.name}`
  const name = choose(
    'targetService',
    `These Services are behind ${where}. Which one gets the traffic?`,
    distinct(candidates.map((each) => each.service)),
    (each) => each,
  )
  const port = choose(
    'targetPort',
    `These ports of it are behind ${where}. Which one gets the traffic?`,
    distinct(candidates.filter(({ service }) => service === name).map((each) => each.port)),
    (each) => each,
  )
  const found = candidates.find((each) => each.service === name && each.port === port)
  if (found === undefined) return undefined
  const service = await cluster.service(namespace, found.service)
  if (service === undefined) throw absent('Service', namespace, found.service, cluster.name)
  const ports = await containerPorts(cluster, namespace, service, found, request)
  const text = `On which port do the containers behind Service ${found.service} of cluster ${cluster.name} listen?`
  const containerPort = choose('containerPort', text, ports, String)
  return containerPort === undefined
    ? undefined
    : { service: { name: found.service, port: portValue(found) }, containerPort }
}

/** The number of a named port is up to the pods, and they need not agree. */
async function containerPorts(
  cluster: ReadableCluster,
  namespace: string,
  service: Service,
  { port, service: name }: Place,
  { containerPort }: ImportRequest,
): Promise<readonly number[]> {
  const declared = findPort(service, port)
  if (typeof declared?.targetPort === 'number') return [declared.targetPort]
  const own = service.spec.ports?.find((each) => each.port === declared?.port)
  const endpoints = await cluster.endpoints(namespace, name)
  const found = endpoints.flatMap(({ ports }) => ports.filter((each) => (each.name ?? '') === (own?.name ?? '')))
  const numbers = distinct(found.map((each) => each.port))
  return numbers.length === 0 && containerPort !== undefined ? [containerPort] : numbers
}

interface Names {
  readonly plan: string
  readonly action: string
  readonly group: string
}

/** Weir makes up the names, as long as they are not in use. */
async function chooseNames(
  request: ImportRequest,
  { current }: ImportPlaces,
  balancer: Balancer | undefined,
  { service }: Place,
  questions: ImportQuestion[],
): Promise<Names> {
  const plan = request.name ?? `${request.namespace}-${service}`.slice(0, 63)
  const action = request.actionName ?? `${service.slice(0, 48)}-switch`
  const group = request.targetGroupName ?? `${plan.slice(0, 25)}-target`
  if ((await current.service(request.namespace, action)) !== undefined)
    questions.push({
      field: 'actionName',
      text: `There is a Service ${action}. How is the action called?`,
      choices: [],
      hints: [],
    })
  if ((await balancer?.targetGroup(group)) !== undefined)
    questions.push({
      field: 'targetGroupName',
      text: `There is a target group ${group} already. How is the new one called?`,
      choices: [],
      hints: [],
    })
  return { plan, action, group }
}

interface Drawing {
  readonly request: ImportRequest
  readonly current: Ingress
  readonly target: Ingress | undefined
  readonly place: NamedPlace
  readonly network: Network
  readonly backend: TargetBackend
  readonly names: Names
}

function draw({ request, current, target, place, network, backend, names }: Drawing) {
  const { region, accountId, vpcId, securityGroup, group } = network
  const preset = PRESETS[request.preset ?? 'standard']
  if (preset === undefined)
    throw new TrafficError(
      'invalid',
      `Unknown preset ${request.preset}. Use one of ${Object.keys(PRESETS).join(', ')}.`,
    )
  const ingressOf = (ingress: Ingress, name: string) => ({
    name,
    ...groupOf(ingress),
    ...(ingress.spec.ingressClassName === undefined ? {} : { className: ingress.spec.ingressClassName }),
    ...(place.host === undefined ? {} : { host: place.host }),
    ...(place.path === '/' ? {} : { path: place.path }),
    ...(place.pathType === 'Prefix' ? {} : { pathType: place.pathType }),
    annotations: annotationsOf(ingress),
  })
  const { groupName: _group, ...likeCurrent } = ingressOf(current, request.targetIngress ?? request.ingress)
  return {
    apiVersion: 'traffic/v1',
    name: names.plan,
    project: request.project,
    aws: { region, ...(accountId === undefined ? {} : { accountId }) },
    current: {
      cluster: request.currentContext,
      kubeContext: request.currentContext,
      namespace: request.namespace,
      vpcId,
      service: { name: place.service, port: portValue(place) },
      ingress: ingressOf(current, request.ingress),
    },
    target: {
      cluster: request.targetContext,
      kubeContext: request.targetContext,
      namespace: request.targetNamespace ?? request.namespace,
      service: backend.service,
      ingress: target === undefined ? likeCurrent : ingressOf(target, request.targetIngress ?? request.ingress),
    },
    actionName: names.action,
    targetGroup: {
      name: names.group,
      ...(group?.protocol === undefined ? {} : { protocol: group.protocol }),
      ...(group?.protocolVersion === undefined ? {} : { protocolVersion: group.protocolVersion }),
      port: backend.containerPort,
      vpcId,
      ...(group?.ipAddressType === undefined ? {} : { ipAddressType: group.ipAddressType }),
    },
    binding: { name: names.action, sourceSecurityGroup: securityGroup, port: backend.containerPort },
    steps: [[100, 0] as const, ...preset].map(([own = 0, other = 0]) => ({
      weights: { current: own, target: other },
      ...(other === 0
        ? {}
        : { dwellSeconds: 600, gates: [{ kind: 'targetsHealthy', minHealthy: 1 }], onFail: 'rollback' }),
    })),
    dns: { hostname: place.hostname },
  }
}
