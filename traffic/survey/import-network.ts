/** The load balancer that traffic leaves: read from AWS or, if only manifests are known, asked for. */
import { RetryableError } from '../core.ts'
import { loadBalancerHostname } from '../effects/effect.ts'
import { CredentialsRefused, TrafficError } from '../model/finding.ts'
import type { Mirrored } from '../model/health-check.ts'
import type { Ingress } from '../model/manifests.ts'
import type { Balancer } from '../vendors/balancer.ts'
import type { Choose, ImportPlaces, ImportQuestion, ImportRequest } from './import-types.ts'

export interface Network {
  readonly region: string
  readonly accountId: string | undefined
  readonly vpcId: string
  readonly securityGroup: string
  readonly group: Mirrored | undefined
  /** Undefined if AWS cannot be asked. */
  readonly balancer: Balancer | undefined
}

interface Wanted {
  readonly request: ImportRequest
  readonly places: ImportPlaces
  readonly current: Ingress
  readonly service: string
  readonly port: string
  readonly choose: Choose
  readonly questions: ImportQuestion[]
}

/** The region in a load balancer's own name: `name-1234.eu-central-1.elb.amazonaws.com`. */
export function regionOf(hostname: string): string | undefined {
  const parts = hostname.split('.')
  const at = parts.indexOf('elb')
  return at > 0 ? parts[at - 1] : undefined
}

const SECURITY_GROUP = 'From which security group of the current load balancer may the pods of the target be reached?'

export async function networkOf(wanted: Wanted): Promise<Network | undefined> {
  const { request, places, current, service, port, choose, questions } = wanted
  const { namespace } = request
  const hostname = loadBalancerHostname(current)
  const region = request.region ?? (hostname === undefined ? undefined : regionOf(hostname))
  if (region === undefined || (hostname === undefined && !places.isPasted)) {
    const text = `Ingress ${namespace}/${request.ingress} has no load balancer yet, or its name does not tell the region. Which AWS region is it in?`
    questions.push({ field: 'region', text, choices: [], hints: [] })
    return undefined
  }
  const sources = await places.current.sourceSecurityGroups(namespace, service).catch(() => undefined)
  const seen = hostname === undefined ? undefined : await seenBalancer(places, region, hostname)
  if (seen === undefined) return askedNetwork(wanted, region, sources ?? [])
  const { balancer, loadBalancer } = seen
  const securityGroup = choose(
    'sourceSecurityGroup',
    SECURITY_GROUP,
    loadBalancer.securityGroups,
    (each) => each,
    (each) => sideOfGroup(each, sources),
  )
  if (securityGroup === undefined) return undefined
  const group = await balancer.groupOfResource(loadBalancer.arn, `${namespace}/${request.ingress}-${service}:${port}`)
  const accountId = loadBalancer.arn.split(':')[4]
  return { region, accountId, vpcId: loadBalancer.vpcId, securityGroup, group, balancer }
}

/** Whoever pastes manifests may have no access to AWS either. */
async function seenBalancer(places: ImportPlaces, region: string, hostname: string) {
  try {
    const balancer = await places.openBalancer(region)
    const loadBalancer = await balancer.loadBalancer(hostname)
    if (loadBalancer !== undefined) return { balancer, loadBalancer }
  } catch (error) {
    const isAway = error instanceof CredentialsRefused || error instanceof RetryableError
    if (!places.isPasted || !isAway) throw error
    return undefined
  }
  if (places.isPasted) return undefined
  throw new TrafficError(
    'invalid',
    `There is no load balancer ${hostname} in region ${region} of this AWS account. Use the credentials of its account.`,
  )
}

function askedNetwork({ request, questions }: Wanted, region: string, sources: readonly string[]): Network | undefined {
  const securityGroup = request.sourceSecurityGroup ?? (sources.length === 1 ? sources[0] : undefined)
  const { vpcId } = request
  const why = 'AWS cannot be asked from here.'
  if (securityGroup === undefined)
    questions.push({
      field: 'sourceSecurityGroup',
      text: `${why} ${SECURITY_GROUP}`,
      choices: sources,
      hints: sources.map((each) => sideOfGroup(each, sources)),
    })
  if (vpcId === undefined)
    questions.push({ field: 'vpcId', text: `${why} In which VPC is the load balancer?`, choices: [], hints: [] })
  if (securityGroup === undefined || vpcId === undefined) return undefined
  return { region, accountId: undefined, vpcId, securityGroup, group: undefined, balancer: undefined }
}

/** The controller writes into the binding of the current Service from which group its pods may be reached. */
function sideOfGroup(group: string, sources: readonly string[] | undefined): string {
  if (sources === undefined || sources.length === 0) return ''
  return sources.includes(group)
    ? 'backend: the pods of the current Service may be reached from it; this is usually the one'
    : 'frontend: it only lets clients reach the load balancer'
}
