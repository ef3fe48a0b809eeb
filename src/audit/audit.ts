/** Every change to configuration leaves an entry: who, when, what, and how it was before and after, secrets masked. */
import type { Database } from '../database/database.ts'
import type { Services } from '../pipelines/services.ts'
import { insertRow } from '../pipelines/store.ts'
import { maskSecrets } from '../secrets.ts'
import { auditEntries } from '../system/access.ts'

/** Who changes something: a person, or the holder of an API key. */
export interface Actor {
  readonly name: string
  readonly email: string
  /** Network address, or `command line`. */
  readonly address: string
}
export type Action = 'create' | 'update' | 'delete'
export interface Change {
  readonly action: Action
  /** Such as `github connection`. */
  readonly subject: string
  /** Its name or id. */
  readonly key: string
  readonly before: unknown
  readonly after: unknown
}

/** The column holds less than a blueprint of thousands of scopes. */
const LONGEST_STATE = 200_000
function stateOf(value: unknown): unknown {
  // A NORMAL plan is made anew from the rest.
  const state = isObject(value) && value.mode === 'NORMAL' ? { ...value, plan: undefined } : (value ?? null)
  const masked = maskSecrets(state)
  const { length } = JSON.stringify(masked)
  return length > LONGEST_STATE ? { omitted: `${length} characters` } : masked
}
const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object'

export async function recordChange(database: Database, actor: Actor, change: Change): Promise<void> {
  await insertRow(database.kysely, auditEntries, {
    actor: actor.name,
    actor_email: actor.email,
    address: actor.address,
    action: change.action,
    subject: change.subject,
    subject_key: change.key,
    state_before: stateOf(change.before),
    state_after: stateOf(change.after),
  })
}

/** The same services; what they change on behalf of `actor` is recorded. */
export function audited(services: Services, database: Database, actor: Actor): Services {
  const { projects, blueprints, connections, scopes, scopeConfigs } = services
  const nothing = async () => null

  async function recorded<Result>(
    action: Action,
    subject: string,
    key: string | number | ((result: Result) => string | number),
    read: () => Promise<unknown>,
    act: () => Promise<Result>,
  ): Promise<Result> {
    const before = await read()
    const result = await act()
    const after = action === 'delete' ? null : result
    const subjectKey = String(typeof key === 'function' ? key(result) : key)
    await recordChange(database, actor, { action, subject, key: subjectKey, before, after })
    return result
  }

  return {
    ...services,
    projects: {
      ...projects,
      create: (project) => recorded('create', 'project', project.name, nothing, () => projects.create(project)),
      update: (name, changes) =>
        recorded(
          'update',
          'project',
          name,
          () => projects.get(name),
          () => projects.update(name, changes),
        ),
      remove: (name) =>
        recorded(
          'delete',
          'project',
          name,
          () => projects.get(name),
          () => projects.remove(name),
        ),
    },
    blueprints: {
      ...blueprints,
      create: (blueprint) =>
        recorded(
          'create',
          'blueprint',
          ({ id }) => id,
          nothing,
          () => blueprints.create(blueprint),
        ),
      update: (id, changes) =>
        recorded(
          'update',
          'blueprint',
          id,
          () => blueprints.get(id),
          () => blueprints.update(id, changes),
        ),
      remove: (id) =>
        recorded(
          'delete',
          'blueprint',
          id,
          () => blueprints.get(id),
          () => blueprints.remove(id),
        ),
    },
    connections: {
      ...connections,
      create: (plugin, values) =>
        recorded(
          'create',
          `${plugin} connection`,
          ({ id }) => id,
          nothing,
          () => connections.create(plugin, values),
        ),
      update: (plugin, id, values) =>
        recorded(
          'update',
          `${plugin} connection`,
          id,
          () => connections.get(plugin, id),
          () => connections.update(plugin, id, values),
        ),
      remove: (plugin, id) =>
        recorded(
          'delete',
          `${plugin} connection`,
          id,
          () => connections.get(plugin, id),
          () => connections.remove(plugin, id),
        ),
    },
    scopes: {
      ...scopes,
      put: (plugin, connectionId, sent) =>
        recorded('update', `${plugin} scopes`, connectionId, nothing, () => scopes.put(plugin, connectionId, sent)),
      update: (plugin, connectionId, id, changes) =>
        recorded(
          'update',
          `${plugin} scope`,
          `${connectionId}:${id}`,
          async () => (await scopes.get(plugin, connectionId, id)).scope,
          () => scopes.update(plugin, connectionId, id, changes),
        ),
      remove: (plugin, connectionId, id, options) =>
        recorded(
          'delete',
          options?.dataOnly ? `${plugin} scope data` : `${plugin} scope`,
          `${connectionId}:${id}`,
          async () => (await scopes.get(plugin, connectionId, id)).scope,
          () => scopes.remove(plugin, connectionId, id, options),
        ),
    },
    scopeConfigs: {
      ...scopeConfigs,
      create: (plugin, connectionId, values) =>
        recorded(
          'create',
          `${plugin} scope config`,
          ({ id }) => id,
          nothing,
          () => scopeConfigs.create(plugin, connectionId, values),
        ),
      update: (plugin, connectionId, id, values) =>
        recorded(
          'update',
          `${plugin} scope config`,
          id,
          () => scopeConfigs.get(plugin, connectionId, id),
          () => scopeConfigs.update(plugin, connectionId, id, values),
        ),
      remove: (plugin, connectionId, id) =>
        recorded(
          'delete',
          `${plugin} scope config`,
          id,
          () => scopeConfigs.get(plugin, connectionId, id),
          () => scopeConfigs.remove(plugin, connectionId, id),
        ),
    },
  }
}
