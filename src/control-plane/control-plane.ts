import type { Actor } from './audit/record.ts'
import type { StartPipeline } from './blueprints.ts'
import type { Change, ServiceContext, Services } from './services.ts'

export interface ControlPlane {
  readonly context: ServiceContext
  /** For reading; changes go through `servicesFor`. */
  readonly services: Services
  /** Records what is changed, and on whose behalf. */
  servicesFor(actor: Actor): Services
  /** On behalf of the schedule. */
  readonly startPipeline: StartPipeline
  /** Calls back when something changed in this process; gives the way to end it. */
  onChange(listener: (what: Change) => void): () => void
}
