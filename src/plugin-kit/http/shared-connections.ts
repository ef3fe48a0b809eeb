import type { Budget } from './budget.ts'
import type { CredentialPool } from './credential-pool.ts'

/** What all clients of one connection have in common. */
export interface SharedConnection {
  readonly budget: Budget
  readonly pool: CredentialPool
}

/** One budget and one credential pool per connection, kept between clients: what was spent stays spent. */
export interface SharedConnections {
  /** `settings` tells one state of the connection from another: after an edit, new clients start afresh. */
  join(key: string, settings: string, create: () => SharedConnection): SharedConnection
}

export function createSharedConnections(): SharedConnections {
  const connections = new Map<string, { settings: string; shared: SharedConnection }>()
  return {
    join(key, settings, create) {
      const entry = connections.get(key)
      if (entry?.settings === settings) return entry.shared
      const shared = create()
      connections.set(key, { settings, shared })
      return shared
    },
  }
}
