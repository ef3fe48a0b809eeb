/** Everything that code needs to read and change configuration. */
import type { Actor } from '../control-plane/audit/record.ts'
import type { Assumption } from '../control-plane/records.ts'
import type { ServiceContext, Services } from '../control-plane/services.ts'
import type { Database } from '../database/database.ts'
import type { matchPattern } from '../plugin-kit/spec/patterns.ts'
import type { Chosen } from './ask-sources.ts'
import type { Changing } from './change.ts'
import type { Config } from './document.ts'

export interface ConfigContext {
  readonly control: Pick<ServiceContext, 'database' | 'plugins' | 'secrets' | 'changed'>
  readonly services: Services
  /** The user who changes it. */
  readonly actor: Actor
  /** The same services within a transaction. They record who changes what. */
  servicesOn(database: Database): Services
  /** Whether selectors and rules may match nothing. */
  readonly allowsEmpty?: boolean
  /** Hides the messages of servers. */
  readonly hidesReasons?: boolean
  /** Called each time the file has been processed, with all of its scopes that use the default rules. */
  readonly tellAssumed?: (assumptions: readonly Assumption[]) => void
  /** Matches patterns in another thread, so that other requests need not wait. By default they are matched in this one. */
  readonly match?: Match
}
export type Match = (...asked: Parameters<typeof matchPattern>) => Promise<ReturnType<typeof matchPattern>>

/** Everything that the steps inside the transaction need. */
export interface Reconciling extends Changing {
  readonly config: Config
  readonly control: ConfigContext['control']
  readonly services: Services
  readonly actor: Actor
  readonly allowsEmpty: boolean
  readonly match: Match
  readonly chosen: Chosen
  /** Scopes that have a scope config neither from this file nor from elsewhere. */
  readonly assumptions: Assumption[]
}
