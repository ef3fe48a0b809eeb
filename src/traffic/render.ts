import { stringify } from 'yaml'
import { actionOfStep, rollbackAction } from './action.ts'
import { TrafficError } from './finding.ts'
import { applyEdit, attachEdit, bindingOfPlan, detachEdit, ingressOfSide } from './ingress.ts'
import type { Ingress } from './manifests.ts'
import { bindingNamespace, type Plan } from './plan.ts'

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
  const current = options.currentIngress ?? ingressOfSide(plan.current)
  if (phase === 'cleanup') return withReadme(plan, phase, cleanup(plan, current, arnOf(plan, options)))
  if (phase === 'rollback') {
    const action = rollbackAction(plan, arnOf(plan, options))
    return withReadme(plan, phase, [
      yamlFile('01-current-ingress.yaml', applyEdit(current, attachEdit(current, plan, action))),
    ])
  }
  const step = /^step-(\d+)$/.exec(phase)
  if (step === null || plan.steps[Number(step[1])] === undefined) {
    throw new TrafficError('invalid', `Unknown phase ${phase}. This plan has: ${phasesOf(plan).join(', ')}.`)
  }
  const arn = arnOf(plan, options)
  const action = actionOfStep(plan, Number(step[1]), arn)
  return withReadme(plan, phase, [
    createTargetGroup(plan),
    yamlFile('02-target-ingress.yaml', options.targetIngress ?? ingressOfSide(plan.target)),
    yamlFile('03-target-targetgroupbinding.yaml', bindingOfPlan(plan, arn)),
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

function arnOf(plan: Plan, options: RenderOptions): string {
  const arn = options.targetGroupArn ?? plan.targetGroup.arn
  if (arn !== undefined) return arn
  const command = `npx weir traffic render PLAN --phase target-group`
  throw new TrafficError(
    'invalid',
    `The ARN of target group ${plan.targetGroup.name} is not known yet. Create it (${command} prints the command) and put the ARN into targetGroup.arn, or pass --target-group-arn.`,
  )
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
  const { healthCheck } = targetGroup
  const lines = [
    `aws elbv2 create-target-group --region ${plan.aws.region}`,
    `--name ${targetGroup.name} --protocol ${targetGroup.protocol} --protocol-version ${targetGroup.protocolVersion} --port ${targetGroup.port}`,
    `--vpc-id ${targetGroup.vpcId} --target-type ${targetGroup.targetType} --ip-address-type ${targetGroup.ipAddressType}`,
    `--health-check-path ${quoted(healthCheck.path)} --health-check-interval-seconds ${healthCheck.intervalSeconds} --health-check-timeout-seconds ${healthCheck.timeoutSeconds}`,
    `--healthy-threshold-count ${healthCheck.healthyThreshold} --unhealthy-threshold-count ${healthCheck.unhealthyThreshold} --matcher HttpCode=${quoted(healthCheck.successCodes)}`,
    `--tags ${Object.entries(targetGroupTags(plan))
      .map(([key, value]) => quoted(`Key=${key},Value=${value}`))
      .join(' ')}`,
    `--query 'TargetGroups[0].TargetGroupArn' --output text`,
  ]
  return { path: '01-create-target-group.sh', content: `${lines.join(' \\\n  ')}\n` }
}

function cleanup(plan: Plan, current: Ingress, arn: string): readonly RenderedFile[] {
  const attached = applyEdit(current, attachEdit(current, plan, rollbackAction(plan, arn)))
  const { namespace, ingress } = plan.current
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
      content: `aws elbv2 delete-target-group --region ${plan.aws.region} --target-group-arn ${arn}\n`,
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
