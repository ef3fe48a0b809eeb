import { type Effect, type EffectContext, loadBalancerHostname } from './effect.ts'

/** Where the host name leads: one address of the wanted balancer and none of the other. */
export function dns({ plan, outside }: EffectContext, side: 'current' | 'target'): Effect {
  const other = side === 'current' ? 'target' : 'current'
  const addressesOfSide = async (which: 'current' | 'target'): Promise<readonly string[]> => {
    const hostname = loadBalancerHostname(await outside[which].ingress(plan[which].namespace, plan[which].ingress.name))
    return hostname === undefined ? [] : outside.addressesOf(hostname)
  }
  return {
    name: `dns-${side}`,
    isInstant: true,
    async missing() {
      const [found, wanted, unwanted] = await Promise.all([
        outside.addressesOf(plan.dns.hostname),
        addressesOfSide(side),
        addressesOfSide(other),
      ])
      if (found.some((address) => wanted.includes(address)) && !found.some((address) => unwanted.includes(address)))
        return undefined
      return `${plan.dns.hostname} resolves to ${found.join(', ') || 'nothing'}, not to the load balancer of the ${side} cluster (${wanted.join(', ') || 'unknown'}). Move the record, then repeat`
    },
  }
}
