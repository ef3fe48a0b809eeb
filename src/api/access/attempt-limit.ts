import { groupsOf, plainAddress } from '../../plugin-kit/http/index.ts'

const ATTEMPTS = 20
const WINDOW_MS = 60_000

/** Counts wrong keys by address and minute, so that guessing is slow. Right keys are never counted, and always pass. */
export interface AttemptLimit {
  /** False if this attempt exceeds the limit: it is refused and not recorded. */
  count(address: string): boolean
}

export const TOO_MANY_ATTEMPTS = 'Too many wrong keys or tokens from this address: wait a minute.'

/** Whoever has one IPv6 address has at least 2^64 of them, so the whole /64 network counts as one address. */
export function networkOf(address: string): string {
  const plain = plainAddress(address)
  const groups = groupsOf(plain)
  if (!groups) return plain
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
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
    count(address) {
      const network = networkOf(address)
      const times = (current().get(network) ?? 0) + 1
      current().set(network, times)
      return times <= ATTEMPTS
    },
  }
}
