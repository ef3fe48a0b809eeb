import type { Budget } from './budget.ts'
import type { CredentialPool } from './credential-pool.ts'

/** What all clients of one connection have in common. */
export interface SharedConnection {
  readonly budget: Budget
  readonly pool: CredentialPool
}

/** One budget and one credential pool per connection, kept while any client uses it. */
export interface SharedConnections {
  /** `settings` tells one state of the connection from another: after an edit, new clients start afresh. */
  join(key: string, settings: string, create: () => SharedConnection): { shared: SharedConnection; leave(): void }
}

export function createSharedConnections(): SharedConnections {
  const connections = new Map<string, { settings: string; shared: SharedConnection; users: number }>()
  return {
    join(key, settings, create) {
      let entry = connections.get(key)
      if (entry?.settings !== settings) {
        entry = { settings, shared: create(), users: 0 }
        connections.set(key, entry)
      }
      const joined = entry
      joined.users++
      return {
        shared: joined.shared,
        leave() {
          if (--joined.users === 0 && connections.get(key) === joined) connections.delete(key)
        },
      }
    },
  }
}
