import { UserError } from '../core.ts'

/**
 * Every rule that a plan or a manifest can break. Codes are stable, because people put them in tickets and pipelines. `by`
 * names who would refuse the mistake; `nobody` marks mistakes that go live silently.
 */
export const RULES = {
  'TS-Y01': { by: 'plan', remedy: 'Correct the YAML at the line shown.' },
  'TS-Y02': { by: 'plan', remedy: 'Use the field names and types of docs/traffic.md.' },
  'TS-W01': { by: 'controller', remedy: 'Write every weight as a whole number without quotes, for example 90.' },
  'TS-W02': { by: 'aws', remedy: 'Keep weights between 0 and 999.' },
  'TS-W03': { by: 'nobody', remedy: 'Let the weights of a step add up to 100, so that they read as percentages.' },
  'TS-W04': { by: 'aws', remedy: 'Give at least one target group a weight above 0.' },
  'TS-W05': {
    by: 'plan',
    remedy: 'Start with target weight 0, end with current weight 0, and never step back in between.',
  },
  'TS-W06': { by: 'aws', remedy: 'Forward to at most 5 target groups in one action.' },
  'TS-W07': { by: 'aws', remedy: 'Name each target group or service once per action.' },
  'TS-S01': {
    by: 'aws',
    remedy: 'Set durationSeconds to a whole number between 1 and 604800 when stickiness is enabled.',
  },
  'TS-S02': {
    by: 'nobody',
    remedy: 'Disable stickiness at 0/100 (stickiness.atFinalStep: disable): clients with a cookie stay where they are.',
  },
  'TS-S03': { by: 'nobody', remedy: 'Dwell at least as long as the stickiness lasts, or shorten the stickiness.' },
  'TS-S04': {
    by: 'aws',
    remedy: 'Write stickiness.enabled=false into target-group-attributes; removing the entry does not switch it off.',
  },
  'TS-S05': {
    by: 'nobody',
    remedy: 'Write targetGroupStickinessConfig explicitly; leaving it out does not switch it off.',
  },
  'TS-A01': {
    by: 'kubernetes',
    remedy: 'Use at most 55 lower-case letters, digits and hyphens, starting with a letter.',
  },
  'TS-A02': { by: 'kubernetes', remedy: 'Set backend.service.port.name to use-annotation and leave number out.' },
  'TS-A03': { by: 'nobody', remedy: 'Give the action a name that no Service of the namespace has.' },
  'TS-A04': {
    by: 'controller',
    remedy: 'Give each entry either serviceName with servicePort, or targetGroupARN, or targetGroupName.',
  },
  'TS-A05': { by: 'nobody', remedy: 'Add the missing actions.<name> annotation: until then the path answers 503.' },
  'TS-A06': { by: 'nobody', remedy: 'Remove the action, or point a backend with port name use-annotation at it.' },
  'TS-A07': { by: 'controller', remedy: 'Correct the JSON of the annotation.' },
  'TS-A08': {
    by: 'controller',
    remedy: 'Use type forward, redirect or fixed-response with exactly its own configuration.',
  },
  'TS-A09': { by: 'nobody', remedy: 'Correct the key: the controller ignores names that it does not know.' },
  'TS-P01': { by: 'kubernetes', remedy: 'Use a port number 1..65535 or a port name (at most 15 of a-z, 0-9 and -).' },
  'TS-P02': { by: 'controller', remedy: 'Use a port that the Service declares, as number or by name.' },
  'TS-T01': { by: 'aws', remedy: 'Use at most 32 letters, digits and hyphens, without a hyphen at either end.' },
  'TS-T02': { by: 'aws', remedy: 'Use the values that an Application Load Balancer accepts.' },
  'TS-T03': { by: 'aws', remedy: 'Use the ARN that create-target-group printed for this plan.' },
  'TS-T04': { by: 'nobody', remedy: 'Drop the tag: the controller deletes target groups that carry it.' },
  'TS-V01': { by: 'aws', remedy: 'Copy the id from AWS: vpc- or sg- followed by 8 or 17 hexadecimal digits.' },
  'TS-V02': { by: 'aws', remedy: 'Create the target group in the VPC that load balancer and pods share.' },
  'TS-B01': { by: 'kubernetes', remedy: 'Use at most 63 lower-case letters, digits, hyphens and dots.' },
  'TS-B02': {
    by: 'kubernetes',
    remedy: 'Name one source security group or CIDR per peer, and every port with protocol TCP or UDP.',
  },
  'TS-B03': { by: 'nobody', remedy: 'Open the port that the container listens on, not the port of the Service.' },
  'TS-B04': { by: 'controller', remedy: 'Put the binding into the namespace of the Service that it refers to.' },
  'TS-G01': {
    by: 'controller',
    remedy: 'Use at most 63 lower-case letters, digits, hyphens and dots, with a letter or digit at both ends.',
  },
  'TS-G02': { by: 'controller', remedy: 'Use a whole number between -1000 and 1000.' },
  'TS-G03': {
    by: 'nobody',
    remedy: 'Keep the live group name: another name moves the Ingress to a new load balancer and deletes the old one.',
  },
  'TS-Q01': {
    by: 'plan',
    remedy: 'Give the gate a bound that it can judge: max, min, or maxRatio with something to compare.',
  },
  'TS-Q02': { by: 'plan', remedy: 'Dwell for at least as many periods as the failure limit, or shorten the period.' },
  'TS-O01': { by: 'plan', remedy: 'Write the section gitops together with mode: gitops.' },
  'TS-O02': { by: 'plan', remedy: 'Correct the repository, branch or path; credentials are those of git itself.' },
  'TS-O03': {
    by: 'plan',
    remedy: 'Use currentIngress: keep-service, and remove the Ingress from the chart or base yourself.',
  },
  'TS-O04': {
    by: 'plan',
    remedy:
      'Let gitops.current and gitops.target lead to what describes the Ingress, in the state that the cluster has.',
  },
  'TS-O05': {
    by: 'plan',
    remedy: 'Values of a chart hold one route: use form manifest or kustomize, or one plan for each route.',
  },
  'TS-R01': {
    by: 'plan',
    remedy: 'Give each route a name, an action, a Service, a path, a target group and a binding of its own.',
  },
  'TS-R02': {
    by: 'plan',
    remedy:
      'Let routes of one host use one Ingress or one group name: the host name can lead to one load balancer only.',
  },
  'TS-R03': { by: 'plan', remedy: 'Describe an Ingress that several routes use the same way in each of them.' },
  'TS-C01': { by: 'plan', remedy: 'Name two different clusters and contexts.' },
  'TS-C02': {
    by: 'nobody',
    remedy: 'Let both Ingresses serve the same host and path, or the target answers 404 after the DNS switch.',
  },
  'TS-D01': { by: 'plan', remedy: 'Use a full host name.' },
  'TS-D02': {
    by: 'aws',
    remedy: 'Use the id of the hosted zone in which the record stands, such as Z0123456789ABCDEFGHIJ.',
  },
  'TS-D03': {
    by: 'plan',
    remedy:
      'Make a simple or weighted record that leads to the current load balancer, or leave dns.route53 out and move the record yourself.',
  },
  'TS-D04': {
    by: 'nobody',
    remedy:
      'Leave dns.route53 out and let external-dns move the record, or take the host name from it and delete its TXT records first.',
  },
  'TS-D05': { by: 'plan', remedy: 'Let dns.route53.shares grow and end with 100.' },
  'TS-M01': { by: 'kubernetes', remedy: 'Put quotes round the annotation value.' },
  'TS-M02': {
    by: 'nobody',
    remedy: 'Correct the annotation name: the controller ignores names that it does not know.',
  },
  'TS-M03': { by: 'controller', remedy: 'Use "true" or "false".' },
  'TS-N01': { by: 'kubernetes', remedy: 'Use lower-case letters, digits and hyphens, at most 63.' },
  'TS-H01': {
    by: 'nobody',
    remedy: 'Wait until the target group has healthy targets: its share would be answered with 503.',
  },
  'TS-X01': { by: 'nobody', remedy: 'Let only one tool manage the action.' },
  'TS-X02': { by: 'controller', remedy: 'Create the object, or correct the name in the plan.' },
  'TS-X03': {
    by: 'aws',
    remedy: 'Use a target group that no other load balancer uses and whose settings equal the plan.',
  },
  'TS-X05': {
    by: 'nobody',
    remedy: 'Move the annotations from the Service to its Ingress, where they hold for every action of it.',
  },
  'TS-X06': { by: 'nobody', remedy: 'Let all paths of the Service use it in one form, or switch the others too.' },
  'TS-X04': { by: 'nobody', remedy: 'Use the security group attached to the current load balancer.' },
} as const satisfies Record<string, { by: 'plan' | 'kubernetes' | 'controller' | 'aws' | 'nobody'; remedy: string }>

export type Code = keyof typeof RULES

export interface Finding {
  readonly code: Code
  readonly severity: 'error' | 'warning'
  /** The place of the mistake: `steps[1].weights.target`, or object and field of a manifest. */
  readonly path: string
  readonly message: string
  readonly remedy: string
  readonly enforcedBy: (typeof RULES)[Code]['by']
  readonly line?: number
}

export const finding = (
  code: Code,
  path: string,
  message: string,
  severity: Finding['severity'] = 'error',
): Finding => ({
  code,
  severity,
  path: cut(path),
  message: cut(message),
  remedy: RULES[code].remedy,
  enforcedBy: RULES[code].by,
})

/** A name of a million letters is not repeated in a message about it. */
const LONGEST_TEXT = 500
const cut = (text: string): string => (text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text)

/** Whoever has this many findings to correct asks again afterwards. */
export const MOST_FINDINGS = 200

export const errorsIn = (findings: readonly Finding[]): readonly Finding[] =>
  findings.filter((item) => item.severity === 'error')

/** A finding for terminals and logs: the mistake, and in a second line its remedy. */
export const describeFinding = (item: Finding): string => `${item.severity} ${findingWords(item)}`

/** The same without the severity, where that is shown beside it. */
export const findingWords = (item: Finding): string =>
  `${item.code} ${item.path}${item.line === undefined ? '' : ` (line ${item.line})`}: ${item.message}\n  → ${item.remedy}`

export type Trouble = 'invalid' | 'gate' | 'conflict' | 'timeout'

const STATUS: Record<Trouble, number> = { invalid: 422, gate: 409, conflict: 409, timeout: 504 }

/** A refusal whose kind decides exit code and HTTP status. */
export class TrafficError extends UserError {
  override readonly name: string = 'TrafficError'
  readonly trouble: Trouble
  readonly findings: readonly Finding[]
  declare readonly data: { readonly trouble: Trouble; readonly findings: readonly Finding[] }
  constructor(
    trouble: Trouble,
    message: string,
    options: { findings?: readonly Finding[]; status?: number; cause?: unknown } = {},
  ) {
    const { findings = [], status = STATUS[trouble], cause } = options
    super(message, { status, data: { trouble, findings }, cause })
    this.trouble = trouble
    this.findings = findings
  }
}

/** Kubernetes or AWS refuses the caller, or does not know it: nothing but other credentials or permissions helps. */
export class CredentialsRefused extends UserError {
  override readonly name: string = 'CredentialsRefused'
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, status: 502 })
  }
}

/** Throws when any finding is an error; nothing may be applied then. */
export function refuseErrors(what: string, findings: readonly Finding[], consequence = 'nothing was applied'): void {
  const errors = errorsIn(findings)
  if (errors.length > 0) {
    const list = errors.map(describeFinding).join('\n')
    throw new TrafficError(
      'invalid',
      `${what} has ${errors.length === 1 ? 'an error' : `${errors.length} errors`}; ${consequence}.\n${list}`,
      { findings },
    )
  }
}
