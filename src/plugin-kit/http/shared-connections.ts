import type { Budget } from './budget.ts'
import type { CredentialPool } from './credential-pool.ts'

/** The objects that all clients of one connection share. */
export interface SharedConnection {
  readonly budget: Budget
  readonly pool: CredentialPool
}

/** One budget and one credential pool per connection. They outlive single clients, so that spent quota stays spent. */
export interface SharedConnections {
  /** `settings` identifies a state of the connection: after an edit, new clients start with a new budget and pool. */
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
