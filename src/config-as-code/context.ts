/** What configuration is read and changed with. */
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
  /** Who changes it. */
  readonly actor: Actor
  /** The same on a transaction; they record who changes what. */
  servicesOn(database: Database): Services
  /** Selectors and rules may match nothing. */
  readonly allowsEmpty?: boolean
  /** What servers say of themselves is not told. */
  readonly hidesReasons?: boolean
  /** Told of all scopes of the file that go by the default rules, each time that the file was gone through. */
  readonly tellAssumed?: (assumptions: readonly Assumption[]) => void
  /** In a thread, where others wait for this one; here unless it is given. */
  readonly match?: Match
}
export type Match = (...asked: Parameters<typeof matchPattern>) => Promise<ReturnType<typeof matchPattern>>

/** What the steps inside the transaction work with. */
export interface Reconciling extends Changing {
  readonly config: Config
  readonly control: ConfigContext['control']
  readonly services: Services
  readonly actor: Actor
  readonly allowsEmpty: boolean
  readonly match: Match
  readonly chosen: Chosen
  /** Scopes that have no scope config, from this file or from elsewhere. */
  readonly assumptions: Assumption[]
}
