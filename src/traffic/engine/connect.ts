import { Resolver } from 'node:dns/promises'
import type { Database } from '../../database/database.ts'
import type { Outside } from '../effects/effect.ts'
import { throughGit } from '../gitops/through-git.ts'
import type { Plan, Side } from '../model/plan.ts'
import { openBalancer } from '../vendors/balancer.ts'
import { type Cluster, clusterAway, openCluster } from '../vendors/cluster.ts'
import { openMetrics } from '../vendors/metrics.ts'
import type { Engine } from './engine-types.ts'

/** The real world, found as kubectl and the AWS tools find it: KUBECONFIG, AWS_PROFILE and their like. */
export async function connect(plan: Plan, isLenient = false): Promise<Outside> {
  const resolver = new Resolver()
  if (plan.dns.servers.length > 0) resolver.setServers(plan.dns.servers)
  const [current, target, balancer] = await Promise.all([
    openSide(plan.current, isLenient),
    openSide(plan.target, isLenient),
    openBalancer(plan.aws.region),
  ])
  return throughGit(plan, {
    current,
    target,
    balancer,
    metrics: openMetrics(plan.aws.region),
    async addressesOf(hostname) {
      const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    },
  })
}

async function openSide({ cluster, kubeContext }: Side, isLenient: boolean): Promise<Cluster> {
  try {
    return await openCluster(cluster, kubeContext)
  } catch (error) {
    if (isLenient) return clusterAway(cluster, error)
    throw error
  }
}

const POLL_MS = 1_000

export const engineOn = (database: Database): Engine => ({ database, connect, now: () => new Date(), pollMs: POLL_MS })
