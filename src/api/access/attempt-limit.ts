import { isIPv6 } from 'node:net'

const ATTEMPTS = 20
const WINDOW_MS = 60_000

/** Counts wrong keys by address and minute, so that guessing is slow. */
export interface AttemptLimit {
  count(address: string): void
  isOver(address: string): boolean
}

/** Whoever has one address of IPv6 has at least 2^64 of them. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const rest = tail ? tail.split(':') : []
  const whole = tail === undefined ? groups : [...groups, ...Array(8 - groups.length - rest.length).fill('0'), ...rest]
  return `${whole.slice(0, 4).join(':')}::/64`
}

export function attemptLimit(): AttemptLimit {
  let counts = new Map<string, number>()
  let since = Date.now()
  const current = () => {
    if (Date.now() - since > WINDOW_MS) {
      counts = new Map()
      since = Date.now()
    }
    return counts
  }
  return {
    count: (address) => void current().set(networkOf(address), (current().get(networkOf(address)) ?? 0) + 1),
    isOver: (address) => (current().get(networkOf(address)) ?? 0) >= ATTEMPTS,
  }
}
