import { stringify } from 'yaml'
import { byName } from '../../basics/by-name.ts'
import { actionOfStep, type ForwardAction, rollbackAction } from '../model/action.ts'
import { finding, refuseErrors, TrafficError } from '../model/finding.ts'
import { healthCheckOf } from '../model/health-check.ts'
import {
  actionBackends,
  applyEdit,
  attachEdit,
  bindingOfPlan,
  detachEdit,
  directBackends,
  ingressOfSides,
  MULTI_CLUSTER,
  savedIngress,
} from '../model/ingress.ts'
import type { Ingress } from '../model/manifests.ts'
import { bindingNamespace, type Plan, type RoutePlan, type SideName } from '../model/plan.ts'
import { hostsOf, inRoute, routesOf } from '../model/routes.ts'
import { lintArn } from '../model/target-group-arn.ts'
import { gateWords, sameShare, secondsWords, shareOfStep, shareWords } from '../model/words.ts'

export interface RenderedFile {
  readonly path: string
  readonly content: string
}

interface RenderOptions {
  readonly targetGroupArn?: string | undefined
  /** The ARN of each route's target group, by the names of the routes. */
  readonly targetGroupArns?: Readonly<Record<string, string>> | undefined
  /** Saved manifests to edit instead of those that the plan describes, because they may have more rules. */
  readonly currentIngress?: Saved | undefined
  readonly targetIngress?: Saved | undefined
}
type Saved = Ingress | readonly Ingress[]

/** `target-group`, `step-0` … `step-n`, `rollback`, `cleanup`. */
export const phasesOf = (plan: Plan): readonly string[] => [
  'target-group',
  ...plan.steps.map((_, index) => `step-${index}`),
  'rollback',
  'cleanup',
]

/** The files of one phase in the order in which they are applied; the same plan always gives the same bytes. */
export function renderPhase(plan: Plan, phase: string, options: RenderOptions = {}): readonly RenderedFile[] {
  const routes = routesOf(plan)
  refuseStrangers(routes, options)
  const groups = routes.map(createTargetGroup)
  if (phase === 'target-group') return withReadme(plan, phase, groups)
  if (phase === 'cleanup') return withReadme(plan, phase, cleanup(plan, options))
  if (phase === 'rollback') {
    const actionOf = (own: RoutePlan) => rollbackAction(own, groupOf(own, options))
    return withReadme(plan, phase, currentIngresses('01', routes, options, actionOf))
  }
  const step = /^step-(\d+)$/.exec(phase)
  if (step === null || plan.steps[Number(step[1])] === undefined) {
    throw new TrafficError('invalid', `Unknown phase ${phase}. This plan has: ${phasesOf(plan).join(', ')}.`)
  }
  const actionOf = (own: RoutePlan) => actionOfStep(own, Number(step[1]), groupOf(own, options))
  return withReadme(plan, phase, [
    ...groups,
    ...byIngress(routes, 'target').map((some) =>
      yamlFile(ingressFile('02-target-ingress', some, 'target'), targetOf(some, savedFor(some, options, 'target'))),
    ),
    ...routes.map((own) =>
      yamlFile(routeFile('03-target-targetgroupbinding', own, 'yaml'), bindingOfPlan(own, groupOf(own, options))),
    ),
    ...currentIngresses('04', routes, options, actionOf),
  ])
}

/** Groups the routes by their Ingress, because each Ingress is written once. */
const byIngress = (routes: readonly RoutePlan[], side: SideName): readonly (readonly RoutePlan[])[] => [
  ...Map.groupBy(routes, (own) => placeOf(own, side)).values(),
]
const placeOf = (own: RoutePlan, side: SideName): string => `${own[side].namespace}/${own[side].ingress.name}`

const routeFile = (name: string, { route }: RoutePlan, ending: string): string =>
  route === undefined ? `${name}.${ending}` : `${name}.${route.name}.${ending}`
const ingressFile = (name: string, [first]: readonly RoutePlan[], side: SideName, ending = 'yaml'): string =>
  first!.route === undefined ? `${name}.${ending}` : `${name}.${placeOf(first!, side).replace('/', '-')}.${ending}`

const currentIngresses = (
  number: string,
  routes: readonly RoutePlan[],
  options: RenderOptions,
  actionOf: (own: RoutePlan) => ForwardAction,
): readonly RenderedFile[] =>
  byIngress(routes, 'current').map((some) =>
    yamlFile(ingressFile(`${number}-current-ingress`, some, 'current'), attached(some, options, actionOf)),
  )

const attached = (
  some: readonly RoutePlan[],
  options: RenderOptions,
  actionOf: (own: RoutePlan) => ForwardAction,
): Ingress =>
  some.reduce(
    (ingress, own) => applyEdit(ingress, attachEdit(ingress, own, actionOf(own))),
    currentOf(some, savedFor(some, options, 'current')),
  )

const listOf = (saved: Saved | undefined): readonly Ingress[] =>
  saved === undefined ? [] : 'length' in saved ? saved : [saved]

/** A plan of one route takes whatever Ingress it is given. With several routes, each takes the Ingress with its name. */
function savedFor([first]: readonly RoutePlan[], options: RenderOptions, side: SideName): Ingress | undefined {
  const saved = listOf(options[`${side}Ingress`])
  return first!.route === undefined ? saved[0] : saved.find((ingress) => objectPlace(ingress) === placeOf(first!, side))
}
const objectPlace = ({ metadata }: Ingress): string => `${metadata?.namespace ?? 'default'}/${metadata?.name}`

function refuseStrangers(routes: readonly RoutePlan[], options: RenderOptions): void {
  if (routes[0]!.route === undefined) return
  if (options.targetGroupArn !== undefined)
    throw new TrafficError('invalid', 'The plan has several routes: write targetGroup.arn of each into it.')
  for (const side of ['current', 'target'] as const) {
    const foreign = listOf(options[`${side}Ingress`]).find(
      (ingress) => !routes.some((own) => placeOf(own, side) === objectPlace(ingress)),
    )
    if (foreign !== undefined)
      throw new TrafficError('invalid', `No route of the plan is on the ${side} Ingress ${objectPlace(foreign)}.`)
  }
}

/** Joins all files to one stream for reading; what is not YAML becomes comments. They are for two clusters, so apply them one by one. */
export const joinFiles = (files: readonly RenderedFile[]): string =>
  files
    .map(({ path, content }) => `# ${path}\n${path.endsWith('.yaml') ? content : content.replaceAll(/^(?=.)/gm, '# ')}`)
    .join('---\n')

/** Only what a cluster stores, by cluster, because both may have an Ingress of the same name. */
export function manifestsOf(files: readonly RenderedFile[]): Record<SideName, string> {
  const of = (side: string) =>
    files
      .flatMap(({ path, content }) => (path.endsWith('.yaml') && path.startsWith(`-${side}-`, 2) ? [content] : []))
      .join('---\n')
  return { current: of('current'), target: of('target') }
}

/** The ARN, once it is known; until then the controller finds the target group by its name. */
function groupOf(plan: RoutePlan, { targetGroupArn, targetGroupArns }: RenderOptions): string {
  if (targetGroupArn !== undefined) refuseErrors('--target-group-arn', lintArn(plan, targetGroupArn))
  const known = plan.route === undefined ? targetGroupArn : byName(targetGroupArns)[plan.route.name]
  return known ?? plan.targetGroup.arn ?? plan.targetGroup.name
}

function currentOf(some: readonly RoutePlan[], saved: Ingress | undefined): Ingress {
  if (saved === undefined) return ingressOfSides(some.map(({ current }) => current))
  const findings = some.flatMap((own) => {
    const { name, port } = own.current.service
    const uses = directBackends(saved, own).length + actionBackends(saved, own).length
    const message = `no path of Ingress ${saved.metadata?.name} uses Service ${name} with port ${port}`
    return uses === 0 ? inRoute(own, [finding('TS-P02', 'current.service', message)]) : []
  })
  refuseErrors('The saved Ingress', findings)
  return savedIngress(saved)
}

function targetOf(some: readonly RoutePlan[], saved: Ingress | undefined): Ingress {
  if (saved === undefined) return ingressOfSides(some.map(({ target }) => target))
  const clean = savedIngress(saved)
  return {
    ...clean,
    metadata: { ...clean.metadata, annotations: { ...clean.metadata.annotations, [MULTI_CLUSTER]: 'true' } },
  }
}

const yamlFile = (path: string, object: unknown): RenderedFile => ({
  path,
  // Aliases and folded lines are legal YAML that people misread.
  content: stringify(object, { lineWidth: 0, aliasDuplicateObjects: false, singleQuote: true }),
})

export const targetGroupTags = (plan: RoutePlan): Readonly<Record<string, string>> => ({
  'managed-by': 'weir',
  'weir-traffic-switch': plan.name,
  ...plan.targetGroup.tags,
})

const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

function createTargetGroup(plan: RoutePlan): RenderedFile {
  const { targetGroup } = plan
  const healthCheck = healthCheckOf(plan)
  const matcher = targetGroup.protocolVersion === 'GRPC' ? 'GrpcCode' : 'HttpCode'
  const lines = [
    `aws elbv2 create-target-group --region ${plan.aws.region}`,
    `--name ${targetGroup.name} --protocol ${targetGroup.protocol} --protocol-version ${targetGroup.protocolVersion} --port ${targetGroup.port}`,
    `--vpc-id ${targetGroup.vpcId} --target-type ${targetGroup.targetType} --ip-address-type ${targetGroup.ipAddressType}`,
    `--health-check-protocol ${healthCheck.protocol} --health-check-port ${healthCheck.port}`,
    `--health-check-path ${quoted(healthCheck.path)} --health-check-interval-seconds ${healthCheck.intervalSeconds} --health-check-timeout-seconds ${healthCheck.timeoutSeconds}`,
    `--healthy-threshold-count ${healthCheck.healthyThreshold} --unhealthy-threshold-count ${healthCheck.unhealthyThreshold} --matcher ${matcher}=${quoted(healthCheck.successCodes)}`,
    `--tags ${Object.entries(targetGroupTags(plan))
      .map(([key, value]) => quoted(`Key=${key},Value=${value}`))
      .join(' ')}`,
    `--query 'TargetGroups[0].TargetGroupArn' --output text`,
  ]
  return { path: routeFile('01-create-target-group', plan, 'sh'), content: `${lines.join(' \\\n  ')}\n` }
}

function cleanup(plan: Plan, options: RenderOptions): readonly RenderedFile[] {
  const routes = routesOf(plan)
  const context = (name: string | undefined) => (name === undefined ? '' : ` --context ${quoted(name)}`)
  const detached = (some: readonly RoutePlan[]): Ingress =>
    some.reduce(
      (ingress, own) => applyEdit(ingress, detachEdit(ingress, own)),
      attached(some, options, (own) => rollbackAction(own, groupOf(own, options))),
    )
  return [
    ...byIngress(routes, 'current').map((some): RenderedFile => {
      if (plan.cleanup.currentIngress === 'keep-service')
        return yamlFile(ingressFile('01-current-ingress', some, 'current'), detached(some))
      const { kubeContext, namespace, ingress } = some[0]!.current
      return {
        path: ingressFile('01-delete-current-ingress', some, 'current', 'sh'),
        content: `kubectl${context(kubeContext)} --namespace ${namespace} delete ingress ${ingress.name} --wait\n`,
      }
    }),
    ...routes.map((own) => ({
      path: routeFile('02-delete-targetgroupbinding', own, 'sh'),
      content: `kubectl${context(own.target.kubeContext)} --namespace ${bindingNamespace(own)} delete targetgroupbindings.elbv2.k8s.aws ${own.binding.name} --wait\n`,
    })),
    ...routes.map((own) => ({
      path: routeFile('03-delete-target-group', own, 'sh'),
      content: `aws elbv2 delete-target-group --region ${plan.aws.region} --target-group-arn ${arnText(own, options)}\n`,
    })),
  ]
}

function arnText(plan: RoutePlan, options: RenderOptions): string {
  const group = groupOf(plan, options)
  return group.startsWith('arn:')
    ? group
    : `"$(aws elbv2 describe-target-groups --region ${plan.aws.region} --names ${group} --query 'TargetGroups[0].TargetGroupArn' --output text)"`
}

const EXPLAIN: readonly (readonly [RegExp, (plan: Plan) => string])[] = [
  [
    /create-target-group/,
    () => 'creates the auxiliary target group; running it again is harmless and prints the same ARN',
  ],
  [/target-ingress/, (plan) => `apply in cluster ${plan.target.cluster}`],
  [
    /target-targetgroupbinding/,
    (plan) => `apply in cluster ${plan.target.cluster}; registers its pods in the target group`,
  ],
  [
    /delete-current-ingress/,
    (plan) => `in cluster ${plan.current.cluster}; deletes its load balancer, if no other Ingress shares it`,
  ],
  [/current-ingress/, (plan) => `apply in cluster ${plan.current.cluster}`],
  [
    /delete-targetgroupbinding/,
    (plan) => `in cluster ${plan.target.cluster}; only when no rule names the target group any more`,
  ],
  [/delete-target-group/, () => 'last; refused by AWS (ResourceInUse) while a rule still names it'],
]

/** These phases have no place in the order of the others. */
const BESIDES = ['rollback', 'cleanup']

/** The README in the root of a folder with every phase: it tells which phase to apply when. */
export function readmeOfPhases(plan: Plan): RenderedFile {
  const lineOf = (phase: string) => `[\`${phase}\`](${phase}/README.md): ${phaseWords(plan, phase)}`
  const ordered = phasesOf(plan).filter((phase) => !BESIDES.includes(phase))
  const numbered = ordered.map((phase, index) => `${index + 1}. ${lineOf(phase)}`)
  const others = BESIDES.map((phase) => `- ${lineOf(phase)}`)
  return {
    path: 'README.md',
    content: `# ${plan.name}\n\nThe phases in their order; each folder has a README with the order of its files.\n\n${numbered.join('\n')}\n\nBesides:\n\n${others.join('\n')}\n`,
  }
}

function phaseWords(plan: Plan, phase: string): string {
  if (phase === 'target-group') return 'makes the auxiliary target group and prints its ARN; apply it first'
  if (phase === 'rollback') return `at any time: sends all traffic back to ${plan.current.cluster}`
  if (phase === 'cleanup')
    return `after the last step, when ${hostsOf(plan).join(' and ')} led to ${plan.target.cluster} for ${plan.dns.quietMinutes} minutes: removes what the switch made`
  const number = Number(phase.slice('step-'.length))
  const step = plan.steps[number]!
  const attaches = number === 0 ? '; attaches everything, no request moves' : ''
  const stays = step.dwellSeconds === 0 ? '' : `, then stay for ${secondsWords(step.dwellSeconds)}`
  const asks = step.gates.length === 0 ? '' : `; continue when ${step.gates.map(gateWords).join(' and ')}`
  return `${shareWords(plan, sameShare(shareOfStep(step)))}${attaches}${stays}${asks}`
}

function withReadme(plan: Plan, phase: string, files: readonly RenderedFile[]): readonly RenderedFile[] {
  const step = /^step-(\d+)$/.exec(phase)
  const weights = step === null ? undefined : plan.steps[Number(step[1])]?.weights
  const title = weights === undefined ? phase : `${phase}: ${weights.current}/${weights.target}`
  const order = files.map(
    ({ path }, index) =>
      `${index + 1}. \`${path}\`: ${EXPLAIN.find(([pattern]) => pattern.test(path.split('.')[0]!))![1](plan)}`,
  )
  const hosts = hostsOf(plan)
  const before =
    phase === 'cleanup'
      ? `Only after ${hosts.join(' and ')} ${hosts.length === 1 ? 'has' : 'have'} pointed at the target's load balancer for ${plan.dns.quietMinutes} minutes.\n\n`
      : ''
  return [
    {
      path: 'README.md',
      content: `# ${plan.name}, ${title}\n\n${before}Apply in this order:\n\n${order.join('\n')}\n`,
    },
    ...files,
  ]
}
