/** Wraps the services so that each change is recorded in the transaction that makes it. */
import { retrying } from '../../database/write.ts'
import type {
  BlueprintService,
  Change as Changed,
  ConnectionService,
  ProjectService,
  ScopeConfigService,
  ScopeService,
  ServiceContext,
  Services,
} from '../services.ts'
import { type Action, type Actor, recordChange, SELECTORS } from './record.ts'

/** Runs `body` in one transaction. Listeners are told of its changes only after it has been committed. */
async function inOneTransaction<Result>(
  context: ServiceContext,
  body: (inside: ServiceContext) => Promise<Result>,
): Promise<Result> {
  const { database, notify } = context
  let announcements: (() => void)[] = []
  const result = await retrying(database, () => {
    announcements = []
    return database.transaction((own) =>
      body({
        ...context,
        database: own,
        changed: (what: Changed) => void announcements.push(() => context.changed(what)),
        ...(notify && { notify: async (...news) => void announcements.push(() => void notify(...news)) }),
      }),
    )
  })
  for (const announce of announcements) announce()
  return result
}

/** Picks the methods that change nothing. All other methods are listed one by one below, so that forgetting one is a compile error. */
const reading = <Service, Name extends keyof Service>(service: Service, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, service[name]])) as Pick<Service, Name>

/** Makes a change and writes its audit entry in one transaction. */
type Record = <Result>(
  action: Action,
  subject: string,
  key: string | number | ((result: Result) => string | number),
  read: (own: Services) => Promise<unknown>,
  act: (own: Services) => Promise<Result>,
) => Promise<Result>

const nothing = async () => null

/** Returns services that record each change with `actor` as its author. `build` makes the services for a transaction. */
export function audited(actor: Actor, context: ServiceContext, build: (context: ServiceContext) => Services): Services {
  const services = build({ ...context, actor })
  const recorded: Record = (action, subject, key, read, act) =>
    inOneTransaction({ ...context, actor }, async (inside) => {
      const own = build(inside)
      const before = await read(own)
      const result = await act(own)
      await recordChange(inside.database.kysely, actor, {
        // Scopes that selectors find were entered by nobody, so the entry says `adopt`.
        action: actor === SELECTORS ? 'adopt' : action,
        subject,
        key: String(typeof key === 'function' ? key(result) : key),
        before,
        after: action === 'delete' ? null : result,
      })
      return result
    })
  return {
    // These services write their own audit entries.
    ...reading(services, 'pipelines', 'collected', 'parsePlan'),
    projects: auditedProjects(services.projects, recorded),
    blueprints: auditedBlueprints(services.blueprints, recorded),
    connections: auditedConnections(services.connections, recorded),
    scopes: auditedScopes(services.scopes, recorded),
    scopeConfigs: auditedScopeConfigs(services.scopeConfigs, recorded),
  }
}

const auditedProjects = (service: ProjectService, recorded: Record): ProjectService => ({
  ...reading(service, 'list', 'get', 'exists'),
  create: (project) => recorded('create', 'project', project.name, nothing, (own) => own.projects.create(project)),
  update: (name, changes, seen) =>
    recorded(
      'update',
      'project',
      name,
      (own) => own.projects.get(name),
      (own) => own.projects.update(name, changes, seen),
    ),
  remove: (name) =>
    recorded(
      'delete',
      'project',
      name,
      (own) => own.projects.get(name),
      (own) => own.projects.remove(name),
    ),
})

const auditedBlueprints = (service: BlueprintService, recorded: Record): BlueprintService => ({
  ...reading(service, 'list', 'get', 'preview', 'previewOf'),
  // Asks sources before it changes anything. The pipeline that it creates is recorded when it is created.
  trigger: service.trigger,
  create: (blueprint) =>
    recorded(
      'create',
      'blueprint',
      ({ id }) => id,
      nothing,
      (own) => own.blueprints.create(blueprint),
    ),
  update: (id, changes, seen, allow) =>
    recorded(
      'update',
      'blueprint',
      id,
      (own) => own.blueprints.get(id),
      (own) => own.blueprints.update(id, changes, seen, allow),
    ),
  addScopes: (id, found) =>
    recorded(
      'update',
      'blueprint',
      id,
      (own) => own.blueprints.get(id),
      (own) => own.blueprints.addScopes(id, found),
    ),
  remove: (id) =>
    recorded(
      'delete',
      'blueprint',
      id,
      (own) => own.blueprints.get(id),
      (own) => own.blueprints.remove(id),
    ),
})

const auditedConnections = (service: ConnectionService, recorded: Record): ConnectionService => ({
  ...reading(service, 'list', 'get', 'reveal', 'check', 'mask'),
  create: (plugin, values) =>
    recorded(
      'create',
      `${plugin} connection`,
      ({ id }) => id,
      nothing,
      (own) => own.connections.create(plugin, values),
    ),
  update: (plugin, id, values, seen) =>
    recorded(
      'update',
      `${plugin} connection`,
      id,
      (own) => own.connections.get(plugin, id),
      (own) => own.connections.update(plugin, id, values, seen),
    ),
  remove: (plugin, id) =>
    recorded(
      'delete',
      `${plugin} connection`,
      id,
      (own) => own.connections.get(plugin, id),
      (own) => own.connections.remove(plugin, id),
    ),
})

const auditedScopes = (service: ScopeService, recorded: Record): ScopeService => ({
  ...reading(service, 'list', 'get', 'latestSyncState'),
  put: (plugin, connectionId, scopes) =>
    recorded('update', `${plugin} scopes`, connectionId, nothing, (own) =>
      own.scopes.put(plugin, connectionId, scopes),
    ),
  add: (plugin, connectionId, scopes) =>
    recorded('update', `${plugin} scopes`, connectionId, nothing, (own) =>
      own.scopes.add(plugin, connectionId, scopes),
    ),
  update: (plugin, connectionId, id, changes, seen) =>
    recorded(
      'update',
      `${plugin} scope`,
      `${connectionId}:${id}`,
      async (own) => (await own.scopes.get(plugin, connectionId, id)).scope,
      (own) => own.scopes.update(plugin, connectionId, id, changes, seen),
    ),
  // Works in many transactions and writes the audit entries itself.
  remove: service.remove,
})

const auditedScopeConfigs = (service: ScopeConfigService, recorded: Record): ScopeConfigService => ({
  ...reading(service, 'list', 'get', 'projects', 'requireFreeName'),
  create: (plugin, connectionId, values) =>
    recorded(
      'create',
      `${plugin} scope config`,
      ({ id }) => id,
      nothing,
      (own) => own.scopeConfigs.create(plugin, connectionId, values),
    ),
  update: (plugin, connectionId, id, values, seen) =>
    recorded(
      'update',
      `${plugin} scope config`,
      id,
      (own) => own.scopeConfigs.get(plugin, connectionId, id),
      (own) => own.scopeConfigs.update(plugin, connectionId, id, values, seen),
    ),
  remove: (plugin, connectionId, id) =>
    recorded(
      'delete',
      `${plugin} scope config`,
      id,
      (own) => own.scopeConfigs.get(plugin, connectionId, id),
      (own) => own.scopeConfigs.remove(plugin, connectionId, id),
    ),
})
