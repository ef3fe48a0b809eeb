import { Resolver } from 'node:dns/promises'
import type { Database } from '../core.ts'
import type { Answer, Outside } from '../effects/effect.ts'
import { throughGit } from '../gitops/through-git.ts'
import type { Plan } from '../model/plan.ts'
import { answerClock } from '../vendors/aws-client.ts'
import { openBalancer } from '../vendors/balancer.ts'
import { CALL_MS } from '../vendors/call-time.ts'
import { type Cluster, clusterAway, openCluster } from '../vendors/cluster.ts'
import { openMetrics } from '../vendors/metrics.ts'
import { openZones } from '../vendors/zones.ts'
import type { Engine } from './engine-types.ts'

/** Connects to the real world as kubectl and the AWS tools do, with KUBECONFIG, AWS_PROFILE and the like. */
export async function connect(plan: Plan, isLenient = false, callMs = CALL_MS): Promise<Outside> {
  const resolvers = resolversOf(plan.dns.servers)
  const answersOf = (hostname: string): Promise<readonly Answer[]> =>
    Promise.all(
      resolvers.map(async ({ server, resolver }) => {
        const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
        return { server, addresses: answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])) }
      }),
    )
  const clock = answerClock()
  const [current, target, balancer, zones] = await Promise.all([
    openSide(plan.current, isLenient, callMs),
    openSide(plan.target, isLenient, callMs),
    openBalancer(plan.aws.region, callMs, clock),
    openZones(plan.aws.region, callMs, clock),
  ])
  return throughGit(plan, {
    current,
    target,
    balancer,
    metrics: openMetrics(plan.aws.region, callMs),
    zones,
    clock,
    answersOf,
    addressesOf: async (hostname) => [...new Set((await answersOf(hostname)).flatMap(({ addresses }) => addresses))],
  })
}

/** One resolver for each name server, because a resolver with several servers asks the second only when the first is away. */
function resolversOf(servers: readonly string[]): readonly { server: string | undefined; resolver: Resolver }[] {
  if (servers.length === 0) return [{ server: undefined, resolver: new Resolver() }]
  return servers.map((server) => {
    const resolver = new Resolver()
    resolver.setServers([server])
    return { server, resolver }
  })
}

async function openSide(
  { cluster, kubeContext }: Plan['current'],
  isLenient: boolean,
  callMs: number,
): Promise<Cluster> {
  try {
    return await openCluster(cluster, kubeContext, callMs)
  } catch (error) {
    if (isLenient) return clusterAway(cluster, error)
    throw error
  }
}

const POLL_MS = 1_000

export const engineOn = (database: Database): Engine => ({ database, connect, now: () => new Date(), pollMs: POLL_MS })
