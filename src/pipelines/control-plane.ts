import { EventEmitter } from 'node:events'
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
  readonly services: Services
  readonly startPipeline: StartPipeline
  /** Calls back when something changed in this process; gives the way to end it. */
  onChange(listener: (what: Change) => void): () => void
}

export function createControlPlane(base: Omit<ServiceContext, 'changed'>): ControlPlane {
  const changes = new EventEmitter()
  const context: ServiceContext = { ...base, changed: (what) => changes.emit('change', what) }
  const { start, ...pipelines } = pipelineService(context)
  const startPipeline: StartPipeline = async (blueprint, flags, claim) =>
    start(await adoptScopes(context, services, blueprint), flags, claim)
  const blueprints = blueprintService(context, startPipeline)
  const projects = projectService(context, blueprints)
  const services: Services = {
    projects,
    blueprints,
    pipelines,
    connections: connectionService(context),
    scopes: scopeService(context),
    scopeConfigs: scopeConfigService(context),
    collected: collectedService(context, projects, pipelines),
    parsePlan: (plan) => parsePlan(context.plugins, plan),
  }
  return {
    context,
    startPipeline,
    services,
    onChange(listener) {
      changes.on('change', listener)
      return () => changes.off('change', listener)
    },
  }
}
