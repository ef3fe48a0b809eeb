import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as sdk from '@aws-sdk/client-elastic-load-balancing-v2'
import { xmlProblems } from './sdk-model.ts'
import { childOf, readXml } from './xml.ts'

export interface FakeGroup {
  readonly arn: string
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
  readonly targets: Map<string, 'initial' | 'healthy' | 'unhealthy' | 'draining'>
  readonly attributes: Map<string, string>
  readonly tags: Map<string, string>
}
export interface FakeRule {
  readonly arn: string
  readonly loadBalancer: string
  readonly listener: number
  action: FakeForward | { fixedResponse: number }
  /** Settings that the controller put in front of the action: source addresses, authentication, rewrites. */
  guards: readonly string[]
}
export interface FakeForward {
  readonly groups: readonly { readonly arn: string; readonly weight: number }[]
  readonly stickiness: { readonly enabled: boolean; readonly durationSeconds?: number }
}

export class ElbError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export interface FakeElb {
  readonly url: string
  readonly calls: string[]
  readonly groups: Map<string, FakeGroup>
  readonly rules: Map<string, FakeRule>
  /** The number of refused deletions, because a rule still named the group. */
  inUseRefusals: number
  /** The current time for AWS. */
  now: () => Date
  /** Called before every request. A returned error or silence replaces the answer, as with throttling or expired credentials. */
  intercept: (action: string, parameters: URLSearchParams) => ElbError | 'silence' | undefined
  /** Tells by its key whether AWS refuses a rule. */
  isRuleRefused: (key: string) => boolean
  listeners: number
  /** The port and protocol of each listener. The last entry also applies to all further listeners. */
  readonly listenerKinds: { port: number; protocol: 'HTTP' | 'HTTPS' }[]
  /** The availability zones of load balancers, by the names of the balancers. */
  readonly zones: Map<string, readonly string[]>
  /** The quotas of the account. */
  readonly limits: Map<string, number>
  addLoadBalancer(name: string, securityGroup: string): { arn: string; dnsName: string }
  createGroup(settings: Readonly<Record<string, string>>): FakeGroup
  deleteGroup(arn: string): void
  /** Writes a rule, as the controller does. Refuses what ELBv2 refuses. */
  putRule(
    key: string,
    loadBalancer: string,
    action: FakeRule['action'],
    guards?: readonly string[],
    listener?: number,
  ): void
  deleteRule(key: string): void
  register(arn: string, targets: readonly string[]): void
  deregister(arn: string, targets: readonly string[]): void
  close(): Promise<void>
}

const SETTINGS = [
  'Protocol',
  'ProtocolVersion',
  'Port',
  'VpcId',
  'TargetType',
  'IpAddressType',
  'HealthCheckProtocol',
  'HealthCheckPort',
  'HealthCheckPath',
  'HealthCheckIntervalSeconds',
  'HealthCheckTimeoutSeconds',
  'HealthyThresholdCount',
  'UnhealthyThresholdCount',
]
/** The AWS hosted zone that contains the names of load balancers. */
export const ELB_ZONE = 'Z215JYRZR1TBD5'
const VPC = 'vpc-0123456789abcdef0'
const base = (kind: string) => `arn:aws:elasticloadbalancing:eu-central-1:123456789012:${kind}`

/** ELBv2 over its real protocol: form-encoded requests, XML answers, typed errors. */
export async function startFakeElb(): Promise<FakeElb> {
  const groups = new Map<string, FakeGroup>()
  const rules = new Map<string, FakeRule>()
  const balancers = new Map<string, { name: string; dnsName: string; securityGroup: string }>()
  const calls: string[] = []

  const groupOf = (arn: string): FakeGroup => {
    const group = groups.get(arn)
    if (group === undefined) throw new ElbError('TargetGroupNotFound', 'One or more target groups not found')
    return group
  }
  const naming = (arn: string) =>
    [...rules.values()].filter(({ action }) => 'groups' in action && action.groups.some((group) => group.arn === arn))

  const fake: FakeElb = {
    url: '',
    calls,
    groups,
    rules,
    inUseRefusals: 0,
    now: () => new Date(),
    intercept: () => undefined,
    isRuleRefused: () => false,
    listeners: 1,
    listenerKinds: [{ port: 80, protocol: 'HTTP' }],
    zones: new Map(),
    limits: new Map([
      ['target-groups', 3000],
      ['targets-per-application-load-balancer', 1000],
      ['target-groups-per-application-load-balancer', 100],
      ['rules-per-application-load-balancer', 100],
      ['target-groups-per-action-on-application-load-balancer', 5],
    ]),
    addLoadBalancer(name, securityGroup) {
      const arn = base(`loadbalancer/app/${name}/${randomBytes(8).toString('hex')}`)
      const dnsName = `${name}-1.eu-central-1.elb.amazonaws.com`
      balancers.set(arn, { name, dnsName, securityGroup })
      return { arn, dnsName }
    },
    createGroup(settings) {
      const name = settings.Name!
      const existing = [...groups.values()].find((group) => group.name === name)
      if (existing !== undefined) {
        if (JSON.stringify(existing.settings) === JSON.stringify(settings)) return existing
        throw new ElbError(
          'DuplicateTargetGroupName',
          `A target group with the same name '${name}' exists, but with different settings`,
        )
      }
      const group = {
        arn: base(`targetgroup/${name}/${randomBytes(8).toString('hex')}`),
        name,
        settings,
        targets: new Map(),
        attributes: new Map([['deregistration_delay.timeout_seconds', '300']]),
        tags: new Map<string, string>(),
      }
      groups.set(group.arn, group)
      return group
    },
    deleteGroup(arn) {
      if (naming(arn).length > 0) {
        fake.inUseRefusals++
        throw new ElbError('ResourceInUse', `Target group '${arn}' is currently in use by a listener or a rule`)
      }
      groups.delete(arn)
    },
    putRule(key, loadBalancer, action, guards = [], listener = 1) {
      if (fake.isRuleRefused(key)) throw new ElbError('TooManyUniqueTargetGroupsPerLoadBalancer', `refused: ${key}`)
      if ('groups' in action) check(action, loadBalancer)
      const existing = rules.get(key)
      if (existing === undefined)
        rules.set(key, { arn: base(`listener-rule/app/${key}`), loadBalancer, listener, action, guards })
      else Object.assign(existing, { action, guards })
    },
    deleteRule: (key) => void rules.delete(key),
    register(arn, targets) {
      const group = groups.get(arn)
      if (group === undefined) throw new ElbError('TargetGroupNotFound', `Target groups '${arn}' not found`)
      for (const target of targets) if (!group.targets.has(target)) group.targets.set(target, 'initial')
    },
    deregister(arn, targets) {
      for (const target of targets) groups.get(arn)?.targets.delete(target)
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }

  function check({ groups: entries, stickiness }: FakeForward, loadBalancer: string): void {
    if (entries.length > 5)
      throw new ElbError('TooManyTargetGroups', 'The maximum number of target groups per action is 5')
    for (const { arn, weight } of entries) {
      const group = groups.get(arn)
      if (!Number.isInteger(weight) || weight < 0 || weight > 999)
        throw new ElbError('ValidationError', `Weight '${weight}' must be between 0 and 999`)
      if (group === undefined) throw new ElbError('TargetGroupNotFound', `Target groups '${arn}' not found`)
      if (naming(arn).some((rule) => rule.loadBalancer !== loadBalancer)) {
        throw new ElbError(
          'TargetGroupAssociationLimit',
          `The following target groups cannot be associated with more than one load balancer: ${arn}`,
        )
      }
      if (entries.length > 1 && group.attributes.get('stickiness.enabled') === 'true' && !stickiness.enabled) {
        throw new ElbError(
          'InvalidLoadBalancerAction',
          'You must enable group stickiness on a rule if you enabled target stickiness on one of its target groups',
        )
      }
    }
    if (entries.every(({ weight }) => weight === 0))
      throw new ElbError('ValidationError', 'At least one weight must be above 0')
  }

  const ANSWERS: Record<string, (form: URLSearchParams) => string> = {
    CreateTargetGroup(form) {
      const settings = Object.fromEntries(
        [...form].filter(([key]) => !['Action', 'Version'].includes(key) && !key.startsWith('Tags.')),
      )
      return `<TargetGroups>${groupXml(fake.createGroup(settings))}</TargetGroups>`
    },
    DescribeTargetGroups(form) {
      const name = form.get('Names.member.1')
      const arn = form.get('TargetGroupArns.member.1')
      const balancer = form.get('LoadBalancerArn')
      const found = [...groups.values()].filter(
        (group) =>
          (name === null && arn === null && balancer === null) ||
          group.name === name ||
          group.arn === arn ||
          naming(group.arn).some(({ loadBalancer }) => loadBalancer === balancer),
      )
      if (found.length === 0 && (name !== null || arn !== null))
        throw new ElbError('TargetGroupNotFound', `One or more target groups not found`)
      return `<TargetGroups>${found.map(groupXml).join('')}</TargetGroups>`
    },
    DeleteTargetGroup(form) {
      fake.deleteGroup(form.get('TargetGroupArn')!)
      return ''
    },
    DescribeTargetHealth(form) {
      const group = groupOf(form.get('TargetGroupArn')!)
      const isUsed = naming(group.arn).length > 0
      const list = [...group.targets].map(([target, state]) => {
        // A target is checked only while a rule names its group, and needs a moment to become healthy.
        if (isUsed && state === 'initial') group.targets.set(target, 'healthy')
        const [id, port] = target.split(':')
        const health =
          isUsed || state === 'draining'
            ? `<State>${state}</State>${state === 'initial' ? '<Reason>Elb.RegistrationInProgress</Reason>' : ''}`
            : '<State>unused</State><Reason>Target.NotInUse</Reason>'
        return `<member><Target><Id>${id}</Id><Port>${port}</Port></Target><TargetHealth>${health}</TargetHealth></member>`
      })
      return `<TargetHealthDescriptions>${list.join('')}</TargetHealthDescriptions>`
    },
    DescribeLoadBalancers() {
      const list = [...balancers].map(
        ([arn, { name, dnsName, securityGroup }]) =>
          `<member>${zonesXml(fake.zones.get(name) ?? ['eu-central-1a', 'eu-central-1b'])}<LoadBalancerArn>${arn}</LoadBalancerArn><LoadBalancerName>${name}</LoadBalancerName><DNSName>${dnsName}</DNSName><CanonicalHostedZoneId>${ELB_ZONE}</CanonicalHostedZoneId><VpcId>${VPC}</VpcId><SecurityGroups>${securityGroup
            .split(',')
            .map((id) => `<member>${id}</member>`)
            .join('')}</SecurityGroups></member>`,
      )
      return `<LoadBalancers>${list.join('')}</LoadBalancers>`
    },
    DescribeTargetGroupAttributes(form) {
      return `<Attributes>${pairsXml(groupOf(form.get('TargetGroupArn')!).attributes)}</Attributes>`
    },
    ModifyTargetGroupAttributes(form) {
      const { attributes } = groupOf(form.get('TargetGroupArn')!)
      for (let index = 1; form.has(`Attributes.member.${index}.Key`); index++)
        attributes.set(form.get(`Attributes.member.${index}.Key`)!, form.get(`Attributes.member.${index}.Value`)!)
      return `<Attributes>${pairsXml(attributes)}</Attributes>`
    },
    DescribeTags(form) {
      const arns = [...form].filter(([key]) => key.startsWith('ResourceArns.member.')).map(([, arn]) => arn)
      if (arns.length > 20) throw new ElbError('ValidationError', 'At most 20 resources')
      const list = arns.map(
        (arn) => `<member><ResourceArn>${arn}</ResourceArn><Tags>${pairsXml(groupOf(arn).tags)}</Tags></member>`,
      )
      return `<TagDescriptions>${list.join('')}</TagDescriptions>`
    },
    DescribeListeners(form) {
      const arn = form.get('LoadBalancerArn')!
      if (!balancers.has(arn)) throw new ElbError('LoadBalancerNotFound', 'One or more load balancers not found')
      const list = Array.from({ length: fake.listeners }, (_, index) => {
        const { port, protocol } = fake.listenerKinds[index] ?? fake.listenerKinds.at(-1)!
        return `<member><ListenerArn>${arn.replace(':loadbalancer/', ':listener/')}/${index + 1}</ListenerArn><LoadBalancerArn>${arn}</LoadBalancerArn><Port>${port}</Port><Protocol>${protocol}</Protocol></member>`
      })
      return `<Listeners>${list.join('')}</Listeners>`
    },
    DescribeAccountLimits: () =>
      `<Limits>${[...fake.limits].map(([name, most]) => `<member><Name>${name}</Name><Max>${most}</Max></member>`).join('')}</Limits>`,
    ModifyRule(form) {
      const rule = [...rules.values()].find(({ arn }) => arn === form.get('RuleArn'))
      if (rule === undefined) throw new ElbError('RuleNotFound', 'One or more rules not found')
      const { forward, types } = actionsIn(form)
      check(forward, rule.loadBalancer)
      rule.action = forward
      rule.guards = rule.guards.filter((guard) => !guard.startsWith('authenticate-') || types.includes(guard))
      return `<Rules>${ruleXml(rule)}</Rules>`
    },
    DescribeRules(form) {
      const one = form.get('RuleArns.member.1')
      if (one !== null && ![...rules.values()].some(({ arn }) => arn === one))
        throw new ElbError('RuleNotFound', 'One or more rules not found')
      if (one !== null)
        return `<Rules>${[...rules.values()]
          .filter(({ arn }) => arn === one)
          .map(ruleXml)
          .join('')}</Rules>`
      const [, arn, number] = /^(.*)\/(\d+)$/.exec(form.get('ListenerArn')!)!
      const loadBalancer = arn!.replace(':listener/', ':loadbalancer/')
      return `<Rules>${[...rules.values()]
        .filter((rule) => rule.loadBalancer === loadBalancer && rule.listener === Number(number))
        .map(ruleXml)
        .join('')}</Rules>`
    },
  }

  const zonesXml = (names: readonly string[]) =>
    `<AvailabilityZones>${names.map((name) => `<member><ZoneName>${name}</ZoneName></member>`).join('')}</AvailabilityZones>`
  const pairsXml = (pairs: ReadonlyMap<string, string>) =>
    [...pairs].map(([key, value]) => `<member><Key>${key}</Key><Value>${value}</Value></member>`).join('')
  const groupXml = ({ arn, name, settings }: FakeGroup) => {
    const attached = [...new Set(naming(arn).map(({ loadBalancer }) => loadBalancer))]
      .map((item) => `<member>${item}</member>`)
      .join('')
    const fields = SETTINGS.filter((field) => settings[field] !== undefined)
      .map((field) => `<${field}>${settings[field]}</${field}>`)
      .join('')
    const [kind] = ['HttpCode', 'GrpcCode'].filter((each) => settings[`Matcher.${each}`] !== undefined)
    const matcher = kind === undefined ? '' : `<Matcher><${kind}>${settings[`Matcher.${kind}`]}</${kind}></Matcher>`
    return `<member><TargetGroupArn>${arn}</TargetGroupArn><TargetGroupName>${name}</TargetGroupName>${fields}${matcher}<LoadBalancerArns>${attached}</LoadBalancerArns></member>`
  }
  const actionsIn = (form: URLSearchParams) => {
    const types: string[] = []
    const found: { arn: string; weight: number }[] = []
    let stickiness: FakeForward['stickiness'] = { enabled: false }
    for (let index = 1; form.has(`Actions.member.${index}.Type`); index++) {
      const prefix = `Actions.member.${index}.`
      types.push(form.get(`${prefix}Type`)!)
      const config = `${prefix}ForwardConfig.`
      for (let group = 1; form.has(`${config}TargetGroups.member.${group}.TargetGroupArn`); group++) {
        const of = (name: string) => form.get(`${config}TargetGroups.member.${group}.${name}`)!
        found.push({ arn: of('TargetGroupArn'), weight: Number(of('Weight')) })
      }
      if (form.get(`${config}TargetGroupStickinessConfig.Enabled`) === 'true')
        stickiness = {
          enabled: true,
          durationSeconds: Number(form.get(`${config}TargetGroupStickinessConfig.DurationSeconds`)),
        }
      const isOidc = types.at(-1) === 'authenticate-oidc'
      if (isOidc && form.get(`${prefix}AuthenticateOidcConfig.UseExistingClientSecret`) !== 'true')
        throw new ElbError('InvalidLoadBalancerAction', 'ClientSecret must be specified')
    }
    return { types, forward: { groups: found, stickiness } }
  }
  const ruleXml = ({ arn, action, guards }: FakeRule) => {
    const oidc = guards.includes('authenticate-oidc')
      ? '<member><Type>authenticate-oidc</Type><Order>1</Order><AuthenticateOidcConfig><Issuer>https://login.example.com</Issuer><AuthorizationEndpoint>https://login.example.com/authorize</AuthorizationEndpoint><TokenEndpoint>https://login.example.com/token</TokenEndpoint><UserInfoEndpoint>https://login.example.com/user</UserInfoEndpoint><ClientId>shop</ClientId></AuthenticateOidcConfig></member>'
      : ''
    if ('fixedResponse' in action)
      return `<member><RuleArn>${arn}</RuleArn><Actions><member><Type>fixed-response</Type></member></Actions></member>`
    const list = action.groups
      .map((group) => `<member><TargetGroupArn>${group.arn}</TargetGroupArn><Weight>${group.weight}</Weight></member>`)
      .join('')
    const duration =
      action.stickiness.durationSeconds === undefined
        ? ''
        : `<DurationSeconds>${action.stickiness.durationSeconds}</DurationSeconds>`
    return `<member><RuleArn>${arn}</RuleArn><Actions>${oidc}<member><Type>forward</Type><Order>2</Order><ForwardConfig><TargetGroups>${list}</TargetGroups><TargetGroupStickinessConfig><Enabled>${action.stickiness.enabled}</Enabled>${duration}</TargetGroupStickinessConfig></ForwardConfig></member></Actions></member>`
  }

  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const form = new URLSearchParams(Buffer.concat(chunks).toString())
    const action = form.get('Action') ?? ''
    const send = (status: number, xml: string) =>
      response.writeHead(status, { 'content-type': 'text/xml', date: fake.now().toUTCString() }).end(xml)
    if (!String(request.headers.authorization).includes('/elasticloadbalancing/aws4_request'))
      return send(403, '<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>')
    try {
      const answer = ANSWERS[action]
      if (answer === undefined) throw new ElbError('InvalidAction', action)
      const refusal = fake.intercept(action, form)
      if (refusal === 'silence') return
      if (refusal !== undefined) throw refusal
      if (/^(?:Create|Delete|ModifyRule)/.test(action)) calls.push(action)
      const xml = `<${action}Response xmlns="http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/"><${action}Result>${answer(form)}</${action}Result></${action}Response>`
      const problems = xmlProblems(sdk, action, childOf(readXml(xml), `${action}Result`)!)
      if (problems.length > 0) throw new ElbError('NotInTheModel', problems.join('; '))
      send(200, xml)
    } catch (error) {
      const { code, message } = error as ElbError
      send(
        400,
        `<ErrorResponse xmlns="http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
      )
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(fake, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}
