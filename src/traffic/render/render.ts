import { stringify } from 'yaml'
import { actionOfStep, rollbackAction } from '../model/action.ts'
import { finding, refuseErrors, TrafficError } from '../model/finding.ts'
import { healthCheckOf } from '../model/health-check.ts'
import {
  actionBackends,
  applyEdit,
  attachEdit,
  bindingOfPlan,
  detachEdit,
  directBackends,
  ingressOfSide,
  MULTI_CLUSTER,
  savedIngress,
} from '../model/ingress.ts'
import type { Ingress } from '../model/manifests.ts'
import { bindingNamespace, type Plan } from '../model/plan.ts'
import { lintArn } from '../model/target-group-arn.ts'

export interface RenderedFile {
  readonly path: string
  readonly content: string
}

export interface RenderOptions {
  readonly targetGroupArn?: string | undefined
  /** Saved manifests to edit instead of the ones that the plan describes: they may have more rules. */
  readonly currentIngress?: Ingress | undefined
  readonly targetIngress?: Ingress | undefined
}

/** `target-group`, `step-0` … `step-n`, `rollback`, `cleanup`. */
export const phasesOf = (plan: Plan): readonly string[] => [
  'target-group',
  ...plan.steps.map((_, index) => `step-${index}`),
  'rollback',
  'cleanup',
]

/** The files of one phase in the order in which they are applied; the same plan always gives the same bytes. */
export function renderPhase(plan: Plan, phase: string, options: RenderOptions = {}): readonly RenderedFile[] {
  if (phase === 'target-group') return withReadme(plan, phase, [createTargetGroup(plan)])
  const current = currentOf(plan, options.currentIngress)
  if (phase === 'cleanup') return withReadme(plan, phase, cleanup(plan, current, groupOf(plan, options)))
  if (phase === 'rollback') {
    const action = rollbackAction(plan, groupOf(plan, options))
    return withReadme(plan, phase, [
      yamlFile('01-current-ingress.yaml', applyEdit(current, attachEdit(current, plan, action))),
    ])
  }
  const step = /^step-(\d+)$/.exec(phase)
  if (step === null || plan.steps[Number(step[1])] === undefined) {
    throw new TrafficError('invalid', `Unknown phase ${phase}. This plan has: ${phasesOf(plan).join(', ')}.`)
  }
  const group = groupOf(plan, options)
  const action = actionOfStep(plan, Number(step[1]), group)
  return withReadme(plan, phase, [
    createTargetGroup(plan),
    yamlFile('02-target-ingress.yaml', targetOf(plan, options.targetIngress)),
    yamlFile('03-target-targetgroupbinding.yaml', bindingOfPlan(plan, group)),
    yamlFile('04-current-ingress.yaml', applyEdit(current, attachEdit(current, plan, action))),
  ])
}

/** All files as one stream to read; what is not YAML becomes comments. They are for two clusters: apply them one by one. */
export const joinFiles = (files: readonly RenderedFile[]): string =>
  files
    .map(({ path, content }) => `# ${path}\n${path.endsWith('.yaml') ? content : content.replaceAll(/^(?=.)/gm, '# ')}`)
    .join('---\n')

/** Only what a cluster stores: both clusters may have an Ingress of the same name. */
export function manifestsOf(files: readonly RenderedFile[]): Record<'current' | 'target', string> {
  const of = (side: string) =>
    files
      .flatMap(({ path, content }) => (path.endsWith('.yaml') && path.includes(`-${side}-`) ? [content] : []))
      .join('---\n')
  return { current: of('current'), target: of('target') }
}

/** The ARN, once it is known; until then the controller finds the target group by its name. */
function groupOf(plan: Plan, { targetGroupArn }: RenderOptions): string {
  if (targetGroupArn !== undefined) refuseErrors('--target-group-arn', lintArn(plan, targetGroupArn))
  return targetGroupArn ?? plan.targetGroup.arn ?? plan.targetGroup.name
}

function currentOf(plan: Plan, saved: Ingress | undefined): Ingress {
  if (saved === undefined) return ingressOfSide(plan.current)
  const { name, port } = plan.current.service
  const uses = directBackends(saved, plan).length + actionBackends(saved, plan).length
  const message = `no path of Ingress ${saved.metadata?.name} uses Service ${name} with port ${port}`
  refuseErrors('The saved Ingress', uses === 0 ? [finding('TS-P02', 'current.service', message)] : [])
  return savedIngress(saved)
}

function targetOf(plan: Plan, saved: Ingress | undefined): Ingress {
  if (saved === undefined) return ingressOfSide(plan.target)
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

export const targetGroupTags = (plan: Plan): Readonly<Record<string, string>> => ({
  'managed-by': 'weir',
  'weir-traffic-switch': plan.name,
  ...plan.targetGroup.tags,
})

const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

function createTargetGroup(plan: Plan): RenderedFile {
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
  return { path: '01-create-target-group.sh', content: `${lines.join(' \\\n  ')}\n` }
}

function cleanup(plan: Plan, current: Ingress, group: string): readonly RenderedFile[] {
  const attached = applyEdit(current, attachEdit(current, plan, rollbackAction(plan, group)))
  const { namespace, ingress } = plan.current
  const { region } = plan.aws
  const arn = group.startsWith('arn:')
    ? group
    : `"$(aws elbv2 describe-target-groups --region ${region} --names ${group} --query 'TargetGroups[0].TargetGroupArn' --output text)"`
  const context = (name: string | undefined) => (name === undefined ? '' : ` --context ${quoted(name)}`)
  const first: RenderedFile =
    plan.cleanup.currentIngress === 'keep-service'
      ? yamlFile('01-current-ingress.yaml', applyEdit(attached, detachEdit(attached, plan)))
      : {
          path: '01-delete-current-ingress.sh',
          content: `kubectl${context(plan.current.kubeContext)} --namespace ${namespace} delete ingress ${ingress.name} --wait\n`,
        }
  return [
    first,
    {
      path: '02-delete-targetgroupbinding.sh',
      content: `kubectl${context(plan.target.kubeContext)} --namespace ${bindingNamespace(plan)} delete targetgroupbindings.elbv2.k8s.aws ${plan.binding.name} --wait\n`,
    },
    {
      path: '03-delete-target-group.sh',
      content: `aws elbv2 delete-target-group --region ${region} --target-group-arn ${arn}\n`,
    },
  ]
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

function withReadme(plan: Plan, phase: string, files: readonly RenderedFile[]): readonly RenderedFile[] {
  const step = /^step-(\d+)$/.exec(phase)
  const weights = step === null ? undefined : plan.steps[Number(step[1])]?.weights
  const title = weights === undefined ? phase : `${phase}: ${weights.current}/${weights.target}`
  const order = files.map(
    ({ path }, index) => `${index + 1}. \`${path}\`: ${EXPLAIN.find(([pattern]) => pattern.test(path))![1](plan)}`,
  )
  const before =
    phase === 'cleanup'
      ? `Only after ${plan.dns.hostname} has pointed at the target's load balancer for ${plan.dns.quietMinutes} minutes.\n\n`
      : ''
  return [
    {
      path: 'README.md',
      content: `# ${plan.name}, ${title}\n\n${before}Apply in this order:\n\n${order.join('\n')}\n`,
    },
    ...files,
  ]
}
