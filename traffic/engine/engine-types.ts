/** The parts that the engine works with, and the requests that it takes. */
import type { Database } from '../core.ts'
import type { Outside } from '../effects/effect.ts'
import type { Plan } from '../model/plan.ts'
import type { Action } from '../model/state.ts'

export interface Engine {
  readonly database: Database
  /** Lenient: a cluster that cannot be reached refuses single calls, not the whole connection, because a rollback may do without it. */
  connect(plan: Plan, isLenient?: boolean): Promise<Outside>
  /** The clock for dwell and quiet times until AWS has told its time. Waiting for the outside always uses the real clock. */
  now(): Date
  /** First pause between two looks at the outside; it grows while nothing changes. */
  readonly pollMs: number
  /** Pause between two looks of the watch at all switches. */
  readonly watchMs?: number
  /** Tells onlookers what is being waited for. */
  progress?(text: string): void
}

export interface Request {
  readonly action: Action
  readonly actor: string
  readonly expectedVersion?: number | undefined
  /** Sent again by a program that waits: a switch that somebody paused meanwhile stays paused. */
  readonly isRepeated?: boolean | undefined
  /** Required for everything that skips a check; stored in the journal. */
  readonly reason?: string | undefined
  readonly overrideGates?: boolean | undefined
  readonly uncheckedDns?: boolean | undefined
  readonly skipQuiet?: boolean | undefined
  readonly acceptLive?: boolean | undefined
  /** Lets a step change the rules of the load balancer itself if the controller does not follow. A rollback always does so. */
  readonly directly?: boolean | undefined
  /** Clean-up takes the switch out of the current Ingress, even if the plan says to delete the Ingress. */
  readonly keepIngress?: boolean | undefined
  /** The name of the plan, typed as a confirmation, because clean-up and abort delete things. */
  readonly confirm?: string | undefined
}
