/** What can be known before anything changes. */
import { counted } from '../../counted.ts'
import { messageOf, RetryableError, UserError } from '../../errors.ts'
import { type EffectContext, loadBalancerHostname } from '../effects/effect.ts'
import { lintFacts, readFacts } from '../effects/preflight-effect.ts'
import type { LiveFacts } from '../lint/live.ts'
import { lintPlan } from '../lint/plan.ts'
import { describeFinding } from '../model/finding.ts'
import { actionBackends, directBackends } from '../model/ingress.ts'
import { bindingNamespace, bindingService } from '../model/plan.ts'
import type { Listener } from '../vendors/balancer-facts.ts'
import { askDirectly } from './ask-directly.ts'
import { featuresOf, judgeController } from './controller-version.ts'

export const STATUSES = ['ok', 'warning', 'failed', 'unknown'] as const
export interface Check {
  readonly check: string
  readonly status: (typeof STATUSES)[number]
  readonly message: string
}

type Said = Omit<Check, 'check'>
const ok = (message: string): Said => ({ status: 'ok', message })
const warning = (message: string): Said => ({ status: 'warning', message })
const failed = (message: string): Said => ({ status: 'failed', message })
const unknown = (message: string): Said => ({ status: 'unknown', message })

interface Survey {
  readonly context: EffectContext
  readonly facts: LiveFacts
  readonly now: Date
}

const CHECKS: readonly (readonly [string, (survey: Survey) => Promise<readonly Said[]>])[] = [
  ['plan', planFits],
  ['zones', zones],
  ['quotas', quotas],
  ['controller', controllers],
  ['readiness gates', readinessGates],
  ['listeners', listeners],
  ['hosts', hosts],
]

/** One check that cannot be made does not hide the others. */
export async function preflightReport(context: EffectContext, now: Date): Promise<readonly Check[]> {
  const survey: Survey = { context, facts: await readFacts(context), now }
  const reports = await Promise.all(
    CHECKS.map(async ([check, look]) => {
      const said = await look(survey).catch((error: unknown): readonly Said[] => {
        if (!(error instanceof UserError || error instanceof RetryableError)) throw error
        return [unknown(messageOf(error))]
      })
      return said.map((each): Check => ({ check, ...each }))
    }),
  )
  return reports.flat()
}

export const describeCheck = ({ check, status, message }: Check): string => `${status.padEnd(8)}${check}: ${message}`

async function planFits({ context, facts }: Survey): Promise<readonly Said[]> {
  const findings = [...lintPlan(context.plan), ...(await lintFacts(context, facts))]
  if (findings.length === 0) return [ok('the plan fits what is live')]
  return findings.map((item) => (item.severity === 'error' ? failed : warning)(describeFinding(item)))
}

/** The load balancer reaches only targets in zones in which it has an address. */
async function zones({ context: { plan, outside }, facts }: Survey): Promise<readonly Said[]> {
  const own = facts.loadBalancer?.zones ?? []
  const pods = (await outside.target.endpoints(bindingNamespace(plan), bindingService(plan).name)).filter(
    ({ isReady }) => isReady,
  )
  if (pods.length === 0)
    return [failed(`Service ${bindingService(plan).name} has no ready pod in cluster ${plan.target.cluster}`)]
  if (own.length === 0) return [unknown('the zones of the current load balancer are not known')]
  const found = [...new Set(pods.flatMap(({ zone }) => zone ?? []))].toSorted()
  if (found.length === 0) return [unknown('the pods of the target do not say in which zone they are')]
  const common = found.filter((zone) => own.includes(zone))
  const text = `the current load balancer is in ${own.toSorted().join(', ')}; the pods of the target are in ${found.join(', ')}`
  if (common.length === 0)
    return [failed(`no zone in common: ${text}. Add a subnet of such a zone to the load balancer`)]
  const outsiders = pods.filter(({ zone }) => zone !== undefined && !own.includes(zone)).length
  return outsiders === 0
    ? [ok(text)]
    : [warning(`${counted(outsiders, 'pod')} of ${pods.length} would get no traffic: ${text}`)]
}

async function quotas({ context: { plan, outside }, facts }: Survey): Promise<readonly Said[]> {
  const { balancer, target } = outside
  if (facts.loadBalancer === undefined) return [unknown('there is no load balancer to count')]
  const [limits, usage, pods] = await Promise.all([
    balancer.limits(),
    balancer.usage(facts.loadBalancer.arn),
    target.endpoints(bindingNamespace(plan), bindingService(plan).name),
  ])
  const isNew = facts.targetGroup === undefined ? 1 : 0
  const isAttached = facts.targetGroup?.loadBalancerArns.includes(facts.loadBalancer.arn) === true
  const rows = [
    ['target groups of the region', 'target-groups', usage.groupsInRegion, isNew],
    [
      'target groups of the load balancer',
      'target-groups-per-application-load-balancer',
      usage.groups,
      isAttached ? 0 : 1,
    ],
    [
      'targets of the load balancer',
      'targets-per-application-load-balancer',
      usage.targets,
      isAttached ? 0 : pods.length,
    ],
    ['rules of the load balancer', 'rules-per-application-load-balancer', usage.rules, 0],
    ['target groups of an action', 'target-groups-per-action-on-application-load-balancer', 0, 2],
  ] as const
  return rows.map(([what, name, used, more]) => {
    const most = limits.get(name)
    if (most === undefined) return unknown(`${what}: ${used} used; AWS names no quota ${name}`)
    const text = `${what}: ${used} of ${most} used${more === 0 ? '' : `, ${more} more needed`}`
    if (used + more > most) return failed(`${text}. Ask AWS for more, or remove what is not used`)
    return used + more > most * 0.9 ? warning(text) : ok(text)
  })
}

async function controllers({ context: { plan, outside } }: Survey): Promise<readonly Said[]> {
  const both = await Promise.all(
    (['current', 'target'] as const).map(async (side): Promise<readonly Said[]> => {
      const found = await outside[side].controllers().catch((error: unknown) => {
        if (error instanceof UserError) return error
        throw error
      })
      const place = `cluster ${plan[side].cluster}`
      if (found instanceof UserError) return [unknown(found.message)]
      if (found.length === 0) return [unknown(`no AWS Load Balancer Controller was found in ${place}`)]
      return found.map((facts) => {
        const { problems, unsure } = judgeController(facts)
        const features = [...featuresOf(facts)].map(([name, value]) => `${name}=${value}`).join(', ')
        const text = `${place}: ${facts.place}, ${facts.image}${features ? `, ${features}` : ''}`
        if (problems.length > 0) return failed(`${text}: ${problems.join('; ')}`)
        return unsure ? unknown(`${text}: the image does not tell its version`) : ok(text)
      })
    }),
  )
  return both.flat()
}

const INJECT = 'elbv2.k8s.aws/pod-readiness-gate-inject'

async function readinessGates({ context: { plan, outside } }: Survey): Promise<readonly Said[]> {
  const namespace = bindingNamespace(plan)
  const labels = await outside.target.namespaceLabels(namespace)
  if (labels === undefined) return [failed(`there is no namespace ${namespace} in cluster ${plan.target.cluster}`)]
  return labels[INJECT] === 'enabled'
    ? [
        ok(
          `namespace ${namespace}: new pods wait until the target group finds them healthy; do not deploy during prepare`,
        ),
      ]
    : [
        warning(
          `namespace ${namespace} has no label ${INJECT}=enabled: a deployment in cluster ${plan.target.cluster} replaces pods before the load balancer knows the new ones`,
        ),
      ]
}

interface TargetBalancer {
  readonly hostname: string
  readonly listeners: readonly Listener[]
}
async function targetBalancer({ context: { outside }, facts }: Survey): Promise<TargetBalancer | undefined> {
  const hostname = loadBalancerHostname(facts.targetIngress)
  const found = hostname === undefined ? undefined : await outside.balancer.loadBalancer(hostname)
  return found === undefined
    ? undefined
    : { hostname: hostname!, listeners: await outside.balancer.listeners(found.arn) }
}

async function listeners(survey: Survey): Promise<readonly Said[]> {
  const { outside, plan } = survey.context
  const target = await targetBalancer(survey)
  if (survey.facts.loadBalancer === undefined || target === undefined)
    return [unknown(`the Ingress of cluster ${plan.target.cluster} has no load balancer yet`)]
  const name = ({ protocol, port }: Listener) => `${protocol} ${port}`
  const wanted = (await outside.balancer.listeners(survey.facts.loadBalancer.arn)).map(name)
  const found = target.listeners.map(name)
  const missing = wanted.filter((each) => !found.includes(each))
  return missing.length === 0
    ? [ok(`both load balancers listen on ${wanted.join(', ')}`)]
    : [failed(`the target's load balancer does not listen on ${missing.join(', ')}, as the current one does`)]
}

const MOST_PLACES = 20
const DAY_MS = 86_400_000
const FEW_DAYS = 14

/** Hosts and paths that lead to the Service now. */
function placesOf({ context: { plan }, facts }: Survey): readonly (readonly [host: string, path: string])[] {
  const { currentIngress: live, currentService } = facts
  if (live === undefined) return []
  const found = [...actionBackends(live, plan), ...directBackends(live, plan, currentService)].map(({ path }) => {
    const rule = path[1] === 'rules' ? live.spec.rules?.[path[2] as number] : undefined
    return [rule?.host ?? plan.dns.hostname, rule?.http?.paths[path[5] as number]?.path ?? '/'] as const
  })
  return [...new Map(found.map((place) => [place.join(''), place])).values()]
}

async function hosts(survey: Survey): Promise<readonly Said[]> {
  const { plan, outside } = survey.context
  const target = await targetBalancer(survey)
  if (target === undefined) return [unknown(`the Ingress of cluster ${plan.target.cluster} has no load balancer yet`)]
  const [address] = await outside.addressesOf(target.hostname)
  if (address === undefined) return [unknown(`${target.hostname} has no address yet`)]
  const listener = target.listeners.find(({ protocol }) => protocol === 'HTTPS') ?? target.listeners[0]
  if (listener === undefined) return [failed(`${target.hostname} has no listener`)]
  const places = placesOf(survey)
  const asked = places.filter(([host]) => !host.startsWith('*')).slice(0, MOST_PLACES)
  const said: Said[] = []
  for (const [host, path] of asked) {
    const isSecure = listener.protocol === 'HTTPS'
    const answer = await askDirectly({ address, port: listener.port, isSecure, host, path })
    const text = `${isSecure ? 'https' : 'http'}://${host}${path} at ${target.hostname}`
    if ('problem' in answer) {
      said.push(failed(`${text} does not answer: ${answer.problem}`))
      continue
    }
    const { status, isBalancers, certificate } = answer
    if (isBalancers && status >= 400)
      said.push(failed(`${text}: the load balancer itself answers ${status}; no rule of the target leads further`))
    else said.push(status >= 500 ? failed(`${text} answers ${status}`) : ok(`${text} answers ${status}`))
    if (certificate !== undefined) said.push(judgeCertificate(host, certificate, survey.now))
  }
  if (asked.length < places.length) said.push(unknown(`${places.length - asked.length} hosts or paths were not asked`))
  return said.length > 0 ? said : [unknown('no path of the current Ingress leads to the Service')]
}

function judgeCertificate(
  host: string,
  { problem, validTo }: { readonly problem: string | undefined; readonly validTo: Date },
  now: Date,
): Said {
  const days = Math.floor((validTo.getTime() - now.getTime()) / DAY_MS)
  const until = `valid until ${validTo.toISOString().slice(0, 10)}`
  if (problem !== undefined) return failed(`the certificate of the target is not for ${host}: ${problem}`)
  if (days < 0) return failed(`the certificate of the target for ${host} has run out (${until})`)
  return (days < FEW_DAYS ? warning : ok)(`the certificate of the target is for ${host}, ${until}`)
}
