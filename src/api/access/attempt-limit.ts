const ATTEMPTS = 20
const WINDOW_MS = 60_000

/** Counts wrong keys by address and minute, so that guessing is slow. */
export interface AttemptLimit {
  count(address: string): void
  isOver(address: string): boolean
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
    count: (address) => void current().set(address, (current().get(address) ?? 0) + 1),
    isOver: (address) => (current().get(address) ?? 0) >= ATTEMPTS,
  }
}
