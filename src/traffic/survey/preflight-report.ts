/** Checks that are possible before anything changes. */
import { counted } from '../../basics/counted.ts'
import { messageOf, RetryableError, UserError } from '../../errors.ts'
import { contextsOf } from '../effects/contexts.ts'
import { type EffectContext, loadBalancerHostname, type Outside } from '../effects/effect.ts'
import { lintFacts, readFacts } from '../effects/preflight-effect.ts'
import { clockProblem } from '../engine/aws-time.ts'
import type { SwitchRow } from '../engine/store.ts'
import type { LiveFacts, LoadBalancer } from '../lint/live.ts'
import { lintPlan } from '../lint/plan.ts'
import { findingWords } from '../model/finding.ts'
import { actionBackends, directBackends } from '../model/ingress.ts'
import { bindingNamespace, bindingService, type Plan } from '../model/plan.ts'
import type { Listener } from '../vendors/balancer-facts.ts'
import { askDirectly } from './ask-directly.ts'
import { featuresOf, judgeController } from './controller-version.ts'

export const STATUSES = ['ok', 'warning', 'failed', 'unknown'] as const
interface Check {
  /** Set if the plan lists its routes and the check is about one of them. */
  readonly route?: string
  readonly check: string
  readonly status: (typeof STATUSES)[number]
  readonly message: string
}

type Said = Pick<Check, 'status' | 'message'>
const ok = (message: string): Said => ({ status: 'ok', message })
const warning = (message: string): Said => ({ status: 'warning', message })
const failed = (message: string): Said => ({ status: 'failed', message })
const unknown = (message: string): Said => ({ status: 'unknown', message })

interface Survey {
  readonly context: EffectContext
  readonly facts: LiveFacts
  readonly now: Date
}

type Named<Subject> = readonly [check: string, look: (subject: Subject) => Promise<readonly Said[]>]
/** Checks of the whole plan: what routes have in common is counted once. */
const COMMON: readonly Named<WholeSurvey>[] = [
  ['plan', planFits],
  ['quotas', quotas],
  ['controller', controllers],
]
const OF_ROUTE: readonly Named<Survey>[] = [
  ['zones', zones],
  ['readiness gates', readinessGates],
  ['listeners', listeners],
  ['hosts', hosts],
]
const ORDER = ['plan', 'clock', 'zones', 'quotas', 'controller', 'readiness gates', 'listeners', 'hosts']

interface WholeSurvey {
  readonly plan: Plan
  readonly outside: Outside
  readonly surveys: readonly Survey[]
}

/** Reports obstacles for each route, in the order of the plan. A check that cannot be made does not hide the others. */
export async function preflightReport(
  plan: Plan,
  outside: Outside,
  row: SwitchRow,
  now: Date,
): Promise<readonly Check[]> {
  const contexts = contextsOf(plan, outside, () => row, { overridesDrift: false })
  // Read before anything that takes time.
  const clock = await reportOf('clock', () => clocks(contexts[0]!, now))
  const surveys = await Promise.all(
    contexts.map(async (context): Promise<Survey> => ({ context, facts: await readFacts(context), now })),
  )
  const whole: WholeSurvey = { plan, outside, surveys }
  const reports = await Promise.all([
    clock,
    ...COMMON.map(([check, look]) => reportOf(check, () => look(whole))),
    ...surveys.flatMap((survey) =>
      OF_ROUTE.map(([check, look]) => reportOf(check, () => look(survey), survey.context.plan.route?.name)),
    ),
  ])
  return reports.flat().toSorted((left, right) => ORDER.indexOf(left.check) - ORDER.indexOf(right.check))
}

async function reportOf(
  check: string,
  look: () => Promise<readonly Said[]>,
  route?: string,
): Promise<readonly Check[]> {
  const said = await look().catch((error: unknown): readonly Said[] => {
    if (!(error instanceof UserError || error instanceof RetryableError)) throw error
    return [unknown(messageOf(error))]
  })
  return said.map((each): Check => ({ ...(route === undefined ? {} : { route }), check, ...each }))
}

export const describeCheck = ({ route, check, status, message }: Check): string =>
  `${status.padEnd(8)}${route === undefined ? '' : `${route}: `}${check}: ${message}`

async function clocks({ plan, outside }: EffectContext, now: Date): Promise<readonly Said[]> {
  const began = performance.now()
  await outside.balancer.targetGroup(plan.targetGroup.name)
  const problem = clockProblem(new Date(now.getTime() + performance.now() - began), outside)
  if (problem !== undefined) return [warning(problem)]
  return outside.clock.last === undefined
    ? [unknown('AWS does not say what time it is')]
    : [ok('the clock of the machine that runs Weir agrees with AWS')]
}

async function planFits({ plan, surveys }: WholeSurvey): Promise<readonly Said[]> {
  const live = await Promise.all(surveys.map(({ context, facts }) => lintFacts(context, facts)))
  const found = new Map([...lintPlan(plan), ...live.flat()].map((item) => [findingWords(item), item]))
  if (found.size === 0) return [ok('the plan fits what is live')]
  return [...found].map(([text, { severity }]) => (severity === 'error' ? failed : warning)(text))
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

type Quota = readonly [what: string, name: string, used: number, more: number]

/** The quotas of a load balancer, with what the routes need of them together. */
async function quotasOfBalancer(
  { arn, dnsName }: LoadBalancer,
  surveys: readonly Survey[],
  isOnly: boolean,
): Promise<{ readonly groupsInRegion: number; readonly rows: readonly Quota[] }> {
  const { balancer, target } = surveys[0]!.context.outside
  const left = surveys.filter(({ facts }) => facts.targetGroup?.loadBalancerArns.includes(arn) !== true)
  const [usage, pods] = await Promise.all([
    balancer.usage(arn),
    Promise.all(
      left.map(({ context: { plan } }) => target.endpoints(bindingNamespace(plan), bindingService(plan).name)),
    ),
  ])
  const place = isOnly ? 'the load balancer' : `load balancer ${dnsName}`
  return {
    groupsInRegion: usage.groupsInRegion,
    rows: [
      [`target groups of ${place}`, 'target-groups-per-application-load-balancer', usage.groups, left.length],
      [`targets of ${place}`, 'targets-per-application-load-balancer', usage.targets, pods.flat().length],
      [`rules of ${place}`, 'rules-per-application-load-balancer', usage.rules, 0],
    ],
  }
}

async function quotas({ outside, surveys }: WholeSurvey): Promise<readonly Said[]> {
  const known = surveys.flatMap((survey) => {
    const { loadBalancer } = survey.facts
    return loadBalancer === undefined ? [] : [{ survey, loadBalancer }]
  })
  const groups = [...Map.groupBy(known, ({ loadBalancer }) => loadBalancer.arn).values()]
  if (groups.length === 0) return [unknown('there is no load balancer to count')]
  const limits = await outside.balancer.limits()
  const counts = await Promise.all(
    groups.map((group) =>
      quotasOfBalancer(
        group[0]!.loadBalancer,
        group.map(({ survey }) => survey),
        groups.length === 1,
      ),
    ),
  )
  const areNew = surveys.filter(({ facts }) => facts.targetGroup === undefined).length
  const rows: readonly Quota[] = [
    ['target groups of the region', 'target-groups', counts[0]!.groupsInRegion, areNew],
    ...counts.flatMap((each) => each.rows),
    ['target groups of an action', 'target-groups-per-action-on-application-load-balancer', 0, 2],
  ]
  return rows.map(([what, name, used, more]) => {
    const most = limits.get(name)
    if (most === undefined) return unknown(`${what}: ${used} used; AWS names no quota ${name}`)
    const text = `${what}: ${used} of ${most} used${more === 0 ? '' : `, ${more} more needed`}`
    if (used + more > most) return failed(`${text}. Ask AWS for more, or remove what is not used`)
    return used + more > most * 0.9 ? warning(text) : ok(text)
  })
}

async function controllers({ plan, outside }: WholeSurvey): Promise<readonly Said[]> {
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
