import type { SideName } from '../model/plan.ts'
import { type Answer, type Effect, type EffectContext, loadBalancerHostname } from './effect.ts'

async function addressesOfSide({ plan, outside }: EffectContext, side: SideName): Promise<readonly string[]> {
  const hostname = loadBalancerHostname(await outside[side].ingress(plan[side].namespace, plan[side].ingress.name))
  return hostname === undefined ? [] : outside.addressesOf(hostname)
}

/** Tells whether any address of the host name belongs to that side's load balancer. */
export async function leadsTo(context: EffectContext, side: SideName): Promise<boolean> {
  const [found, own] = await Promise.all([
    context.outside.addressesOf(context.plan.dns.hostname),
    addressesOfSide(context, side),
  ])
  return found.some((address) => own.includes(address))
}

const describeAnswer = (hostname: string, { server, addresses }: Answer): string =>
  `${hostname} resolves to ${addresses.join(', ') || 'nothing'}${server === undefined ? '' : ` (${server} says)`}`

/** Checks that every name server answers with an address of the wanted load balancer and with none of the other. */
export function dns(context: EffectContext, side: SideName): Effect {
  const { plan, outside } = context
  const other = side === 'current' ? 'target' : 'current'
  return {
    name: `dns-${side}`,
    isInstant: true,
    async missing() {
      const [answers, wanted, unwanted] = await Promise.all([
        outside.answersOf(plan.dns.hostname),
        addressesOfSide(context, side),
        addressesOfSide(context, other),
      ])
      const wrong = answers.find(
        ({ addresses }) =>
          !addresses.some((address) => wanted.includes(address)) ||
          addresses.some((address) => unwanted.includes(address)),
      )
      if (wrong === undefined) return undefined
      // After clean-up deleted the old load balancer, it has no address yet that the name could lead to.
      const where =
        wanted.length === 0
          ? `, and the load balancer of the ${side} cluster has no address yet. Wait for it, move the record to it`
          : `, not to the load balancer of the ${side} cluster (${wanted.join(', ')}). Move the record`
      const weights = side === 'current' ? ' (the weights are back already)' : ''
      return `${describeAnswer(plan.dns.hostname, wrong)}${where}, then repeat${weights}`
    },
  }
}

/** While both sides have a share, an answer may contain addresses of either, but no others. */
export function dnsShared(context: EffectContext, share: number): Effect {
  const { plan, outside } = context
  return {
    name: `dns-shared-${share}`,
    isInstant: true,
    async missing() {
      const [answers, ...own] = await Promise.all([
        outside.answersOf(plan.dns.hostname),
        addressesOfSide(context, 'current'),
        addressesOfSide(context, 'target'),
      ])
      const wrong = answers.find(
        ({ addresses }) => addresses.length === 0 || !addresses.every((address) => own.flat().includes(address)),
      )
      return wrong === undefined
        ? undefined
        : `${describeAnswer(plan.dns.hostname, wrong)}, which is neither load balancer. Find out who changed the record, then repeat`
    },
  }
}
