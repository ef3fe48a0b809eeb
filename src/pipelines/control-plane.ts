import { EventEmitter } from 'node:events'
import { audited } from '../audit/audit.ts'
import { type Actor, SCHEDULE, SELECTORS } from '../audit/record.ts'
import { adoptScopes } from '../config-as-code/adopt.ts'
import { blueprintService, type StartPipeline } from './blueprints.ts'
import { collectedService } from './collected.ts'
import { connectionService } from './connections.ts'
import { pipelineService } from './pipelines.ts'
import { parsePlan } from './plan/parse-plan.ts'
import { projectService } from './projects.ts'
import { scopeConfigService } from './scope-configs.ts'
import { scopeService } from './scopes.ts'
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

export function createControlPlane(base: Omit<ServiceContext, 'changed'>): ControlPlane {
  const changes = new EventEmitter()
  const context: ServiceContext = { ...base, changed: (what) => changes.emit('change', what) }
  const servicesFor = (actor: Actor) => audited(actor, context, (own) => build(own).services)

  function build(own: ServiceContext): Pick<ControlPlane, 'services' | 'startPipeline'> {
    const { start, ...pipelines } = pipelineService(own)
    const startPipeline: StartPipeline = async (blueprint, flags, claim, signal) =>
      start(await adoptScopes(own, servicesFor(SELECTORS), blueprint, signal), flags, claim)
    const blueprints = blueprintService(own, startPipeline)
    const projects = projectService(own, blueprints)
    const services: Services = {
      projects,
      blueprints,
      pipelines,
      connections: connectionService(own),
      scopes: scopeService(own),
      scopeConfigs: scopeConfigService(own),
      collected: collectedService(own, projects, pipelines),
      parsePlan: (plan) => parsePlan(own.plugins, plan),
    }
    return { services, startPipeline }
  }

  return {
    context,
    services: build(context).services,
    servicesFor,
    startPipeline: build({ ...context, actor: SCHEDULE }).startPipeline,
    onChange(listener) {
      changes.on('change', listener)
      return () => changes.off('change', listener)
    },
  }
}
