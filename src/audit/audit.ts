/** Services whose changes are recorded, each in the transaction that makes it. */
import { retrying } from '../database/write.ts'
import type { Change as Changed, ServiceContext, Services } from '../pipelines/services.ts'
import { type Action, type Actor, recordChange, SELECTORS } from './record.ts'

/** Runs `body` in one transaction; whoever waits for changes is told of them when it has ended. */
export async function inOneTransaction<Result>(
  context: ServiceContext,
  body: (inside: ServiceContext) => Promise<Result>,
): Promise<Result> {
  const { database, notify } = context
  let told: (() => void)[] = []
  const result = await retrying(database, () => {
    told = []
    return database.transaction((own) =>
      body({
        ...context,
        database: own,
        changed: (what: Changed) => void told.push(() => context.changed(what)),
        ...(notify && { notify: async (...news) => void told.push(() => void notify(...news)) }),
      }),
    )
  })
  for (const tell of told) tell()
  return result
}

/** Methods that change nothing. All others are named below: one that is forgotten does not compile. */
const reading = <Service, Name extends keyof Service>(service: Service, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, service[name]])) as Pick<Service, Name>

/** The same services; what they change on behalf of `actor` is recorded. `build` makes them on a transaction. */
export function audited(actor: Actor, context: ServiceContext, build: (context: ServiceContext) => Services): Services {
  const services = build({ ...context, actor })
  const nothing = async () => null

  function recorded<Result>(
    action: Action,
    subject: string,
    key: string | number | ((result: Result) => string | number),
    read: (own: Services) => Promise<unknown>,
    act: (own: Services) => Promise<Result>,
  ): Promise<Result> {
    return inOneTransaction({ ...context, actor }, async (inside) => {
      const own = build(inside)
      const before = await read(own)
      const result = await act(own)
      await recordChange(inside.database.kysely, actor, {
        // Nobody wrote what selectors find.
        action: actor === SELECTORS ? 'adopt' : action,
        subject,
        key: String(typeof key === 'function' ? key(result) : key),
        before,
        after: action === 'delete' ? null : result,
      })
      return result
    })
  }

  return {
    // These record what they do themselves.
    ...reading(services, 'pipelines', 'collected', 'parsePlan'),
    projects: {
      ...reading(services.projects, 'list', 'get', 'exists'),
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
    },
    blueprints: {
      ...reading(services.blueprints, 'list', 'get', 'preview', 'previewOf'),
      // Asks sources before it changes anything; the pipeline that it makes is recorded with it.
      trigger: services.blueprints.trigger,
      create: (blueprint) =>
        recorded(
          'create',
          'blueprint',
          ({ id }) => id,
          nothing,
          (own) => own.blueprints.create(blueprint),
        ),
      update: (id, changes, seen) =>
        recorded(
          'update',
          'blueprint',
          id,
          (own) => own.blueprints.get(id),
          (own) => own.blueprints.update(id, changes, seen),
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
    },
    connections: {
      ...reading(services.connections, 'list', 'get', 'reveal', 'check', 'mask'),
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
    },
    scopes: {
      ...reading(services.scopes, 'list', 'get', 'latestSyncState'),
      put: (plugin, connectionId, sent) =>
        recorded('update', `${plugin} scopes`, connectionId, nothing, (own) =>
          own.scopes.put(plugin, connectionId, sent),
        ),
      add: (plugin, connectionId, sent) =>
        recorded('update', `${plugin} scopes`, connectionId, nothing, (own) =>
          own.scopes.add(plugin, connectionId, sent),
        ),
      update: (plugin, connectionId, id, changes, seen) =>
        recorded(
          'update',
          `${plugin} scope`,
          `${connectionId}:${id}`,
          async (own) => (await own.scopes.get(plugin, connectionId, id)).scope,
          (own) => own.scopes.update(plugin, connectionId, id, changes, seen),
        ),
      // Goes on over many transactions, and records them itself.
      remove: services.scopes.remove,
    },
    scopeConfigs: {
      ...reading(services.scopeConfigs, 'list', 'get', 'projects', 'requireFreeName'),
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
    },
  }
}
