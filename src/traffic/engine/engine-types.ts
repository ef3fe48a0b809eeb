/** What the engine works with, and what is asked of it. */
import type { Database } from '../../database/database.ts'
import type { Outside } from '../effects/effect.ts'
import type { Plan } from '../model/plan.ts'
import type { Action } from '../model/state.ts'

export interface Engine {
  readonly database: Database
  /** Lenient: a cluster that cannot be spoken to refuses each call instead, because going back may do without it. */
  connect(plan: Plan, isLenient?: boolean): Promise<Outside>
  /** For dwell and quiet times, until AWS has said what time it is; waiting for the outside always uses the real clock. */
  now(): Date
  /** First pause between two looks at the outside; it grows while nothing changes. */
  readonly pollMs: number
  /** Pause between two looks of the watch at all switches. */
  readonly watchMs?: number
  /** What is being waited for, for people who look on. */
  progress?(text: string): void
}

export interface Request {
  readonly action: Action
  readonly actor: string
  readonly expectedVersion?: number | undefined
  /** Asked again by a program that waits: a switch that somebody paused meanwhile stays paused. */
  readonly isRepeated?: boolean | undefined
  /** Needed for everything that skips a check; stored in the journal. */
  readonly reason?: string | undefined
  readonly overrideGates?: boolean | undefined
  readonly uncheckedDns?: boolean | undefined
  readonly skipQuiet?: boolean | undefined
  readonly acceptLive?: boolean | undefined
  /** A step changes the rules of the load balancer itself if the controller does not follow; a rollback always does. */
  readonly directly?: boolean | undefined
  /** Clean-up takes the switch out of the current Ingress, also where the plan says to delete it. */
  readonly keepIngress?: boolean | undefined
  /** Clean-up and abort delete things: the name of the plan, typed by whoever wants it. */
  readonly confirm?: string | undefined
}
