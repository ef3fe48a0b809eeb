import { Resolver } from 'node:dns/promises'
import type { Database } from '../database/database.ts'
import { openBalancer } from './balancer.ts'
import { openCluster } from './cluster.ts'
import type { Outside } from './effects/effect.ts'
import type { Engine } from './engine.ts'
import type { Plan } from './plan.ts'

/** The real world, found as kubectl and the AWS tools find it: KUBECONFIG, AWS_PROFILE and their like. */
export async function connect(plan: Plan): Promise<Outside> {
  const resolver = new Resolver()
  if (plan.dns.servers.length > 0) resolver.setServers(plan.dns.servers)
  const [current, target, balancer] = await Promise.all([
    openCluster(plan.current.cluster, plan.current.kubeContext),
    openCluster(plan.target.cluster, plan.target.kubeContext),
    openBalancer(plan.aws.region),
  ])
  return {
    current,
    target,
    balancer,
    async addressesOf(hostname) {
      const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    },
  }
}

const POLL_MS = 1_000

export const engineOn = (database: Database): Engine => ({ database, connect, now: () => new Date(), pollMs: POLL_MS })
