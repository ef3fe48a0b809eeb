import type { Actor } from './audit/record.ts'
import type { StartPipeline } from './blueprints/blueprints.ts'
import type { Change, ServiceContext, Services } from './services.ts'

export interface ControlPlane {
  readonly context: ServiceContext
  /** For reading only. Changes go through `servicesFor`, which records them. */
  readonly services: Services
  /** Returns services that record their changes with `actor` as the author. */
  servicesFor(actor: Actor): Services
  /** Starts runs with the schedule as their author. */
  readonly startPipeline: StartPipeline
  /** Calls `listener` when something changed in this process. Returns the function that removes the listener. */
  onChange(listener: (what: Change) => void): () => void
}
