import { deleteRows, insertRow, selectRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import type { RowOf } from '../database/table.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { withBareAddresses } from '../secrets/address-secrets.ts'
import { blueprintScopes, blueprints, scopeSelectors } from '../system/projects.ts'
import { type Glob, globOf, isPattern, type Selector } from './selectors.ts'
import { idOfScope } from './stored-scopes.ts'

export interface StoredSelector extends Selector {
  /** 0: none. */
  readonly scopeConfigId: number
}
export interface ConnectionSelectors {
  readonly plugin: string
  readonly connectionId: number
  readonly selectors: readonly StoredSelector[]
}

export async function saveSelectors(
  { kysely }: Database,
  blueprintId: number,
  connections: readonly ConnectionSelectors[],
): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    await deleteRows(transaction, scopeSelectors, { blueprint_id: blueprintId })
    for (const { plugin, connectionId, selectors } of connections) {
      const row = {
        blueprint_id: blueprintId,
        plugin,
        connection_id: connectionId,
        selectors: withBareAddresses(selectors),
      }
      await insertRow(transaction, scopeSelectors, row)
    }
  })
}

const asStored = ({ plugin, connection_id, selectors }: RowOf<typeof scopeSelectors>): ConnectionSelectors => ({
  plugin,
  connectionId: connection_id,
  selectors,
})

export async function readSelectors({ kysely }: Database, blueprintId: number): Promise<ConnectionSelectors[]> {
  const rows = await selectRows(kysely, scopeSelectors, (query) => query.where('blueprint_id', '=', blueprintId))
  return rows.map(asStored)
}

/** Reads the selectors of all blueprints for one connection. */
export async function readSelectorsOf(
  { kysely }: Database,
  plugin: string,
  connectionId: number,
): Promise<{ readonly blueprintId: number; readonly selectors: readonly StoredSelector[] }[]> {
  const rows = await selectRows(kysely, scopeSelectors, (query) =>
    query.where('plugin', '=', plugin).where('connection_id', '=', connectionId).orderBy('blueprint_id'),
  )
  return rows.map(({ blueprint_id, selectors }) => ({ blueprintId: blueprint_id, selectors }))
}

/** Tells whether a selector refers to a stored scope. It uses only the name, because other properties at the time of choosing are unknown. */
export function namedBy(source: PluginSpec, { scopes, except }: Selector): (scope: Settings) => boolean {
  const patterns = scopes.filter(isPattern).map(globOf)
  const written = new Set(scopes.flatMap((each) => (isPattern(each) ? [] : idOfScope(source, each))))
  const excluded = except.map(globOf)
  return (scope) => {
    const title = String(scope.fullName ?? scope.slug ?? scope.name ?? '')
    const fits = (glob: Glob) => glob.test(title)
    return written.has(idOfScope(source, scope)) || (patterns.some(fits) && !excluded.some(fits))
  }
}

/** Tells whether a scope's scope config comes from a selector of a project that collects it. */
export async function givenByProjects(
  database: Database,
  source: PluginSpec,
  connectionId: number,
): Promise<(scope: Settings) => boolean> {
  const { kysely } = database
  const links = await selectRows(kysely, blueprintScopes, (query) =>
    query
      .where('plugin_name', '=', source.name)
      .where('connection_id', '=', connectionId)
      .where('blueprint_id', 'in', kysely.selectFrom(blueprints.name).select('id').where('project_name', '!=', '')),
  )
  const linked = new Set(links.map(({ blueprint_id, scope_id }) => `${blueprint_id} ${scope_id}`))
  const giving = (await readSelectorsOf(database, source.name, connectionId)).flatMap(({ blueprintId, selectors }) =>
    selectors
      .filter(({ scopeConfigId }) => scopeConfigId !== 0)
      .map((selector) => ({ blueprintId, scopeConfigId: selector.scopeConfigId, names: namedBy(source, selector) })),
  )
  return (scope) =>
    giving.some(
      ({ blueprintId, scopeConfigId, names }) =>
        scope.scopeConfigId === scopeConfigId &&
        linked.has(`${blueprintId} ${idOfScope(source, scope)}`) &&
        names(scope),
    )
}
