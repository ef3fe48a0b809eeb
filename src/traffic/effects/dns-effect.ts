import { type Effect, type EffectContext, loadBalancerHostname } from './effect.ts'

type SideName = 'current' | 'target'

async function addressesOfSide({ plan, outside }: EffectContext, side: SideName): Promise<readonly string[]> {
  const hostname = loadBalancerHostname(await outside[side].ingress(plan[side].namespace, plan[side].ingress.name))
  return hostname === undefined ? [] : outside.addressesOf(hostname)
}

/** Whether any address of the host name is one of that side's load balancer. */
export async function leadsTo(context: EffectContext, side: SideName): Promise<boolean> {
  const [found, own] = await Promise.all([
    context.outside.addressesOf(context.plan.dns.hostname),
    addressesOfSide(context, side),
  ])
  return found.some((address) => own.includes(address))
}

/** Where the host name leads: one address of the wanted balancer and none of the other. */
export function dns(context: EffectContext, side: SideName): Effect {
  const { plan, outside } = context
  const other = side === 'current' ? 'target' : 'current'
  return {
    name: `dns-${side}`,
    isInstant: true,
    async missing() {
      const [found, wanted, unwanted] = await Promise.all([
        outside.addressesOf(plan.dns.hostname),
        addressesOfSide(context, side),
        addressesOfSide(context, other),
      ])
      if (found.some((address) => wanted.includes(address)) && !found.some((address) => unwanted.includes(address)))
        return undefined
      // Clean-up deleted the old load balancer: there is nothing of it that the name could lead to yet.
      const where =
        wanted.length === 0
          ? `, and the load balancer of the ${side} cluster has no address yet. Wait for it, move the record to it`
          : `, not to the load balancer of the ${side} cluster (${wanted.join(', ')}). Move the record`
      const weights = side === 'current' ? ' (the weights are back already)' : ''
      return `${plan.dns.hostname} resolves to ${found.join(', ') || 'nothing'}${where}, then repeat${weights}`
    },
  }
}
