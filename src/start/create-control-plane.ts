/** Connects the services of the control plane, the runner and configuration as code. */
import { EventEmitter } from 'node:events'
import { adoptScopes } from '../config-as-code/adopt.ts'
import { audited } from '../control-plane/audit/audit.ts'
import { type Actor, SCHEDULE, SELECTORS } from '../control-plane/audit/record.ts'
import { blueprintService, type StartPipeline } from '../control-plane/blueprints/blueprints.ts'
import { connectionService } from '../control-plane/connections/connections.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { parsePlan } from '../control-plane/plan/parse-plan.ts'
import { projectService } from '../control-plane/projects/projects.ts'
import { collectedService } from '../control-plane/runs/collected.ts'
import { scopeConfigService } from '../control-plane/scopes/scope-configs.ts'
import { scopeService } from '../control-plane/scopes/scopes.ts'
import type { ServiceContext, Services } from '../control-plane/services.ts'
import { deleteAlone } from '../runner/leases.ts'
import { pipelineService } from '../runner/pipelines.ts'
import { leasesOfScope } from '../runner/task-leases.ts'

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
      scopes: scopeService(own, (source, connectionId, scope, body) =>
        deleteAlone(own.database, leasesOfScope(own.plugins, source, connectionId, scope), body),
      ),
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
