import { sql } from 'kysely'
import { contains } from '../../database/like.ts'
import { readByKeys } from '../../database/pieces.ts'
import type { AnyTable, Column } from '../../database/table.ts'
import { retrying, write } from '../../database/write.ts'
import { UserError } from '../../errors.ts'
import type { Settings } from '../../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { rawsOfFamily, scopeOrigin } from '../../plugin-kit/task/family.ts'
import { settingsTables } from '../../plugin-kit/task/settings-tables.ts'
import { withBareAddresses } from '../../secrets/address-secrets.ts'
import { collectorLatestState } from '../../system/state.ts'
import type { ScopeView } from '../records.ts'
import type { ScopeService, ServiceContext } from '../services.ts'
import { pickNames } from '../settings.ts'
import type { SettingsRow } from '../sources.ts'
import { publicScope, scopeKey, scopeTitle, sourceNamed, titleColumn } from '../sources.ts'
import {
  decodeRow,
  findRow,
  fitted,
  type Listed,
  publicName,
  type Queries,
  selectPage,
  selectRows,
  updateRows,
} from '../store.ts'
import { ChangedError, holdRow, isStale, laterThan } from '../versions.ts'
import { type DeleteAlone, removeScope, type StoredScope } from './remove-scope.ts'
import { scopeParams } from './scope-data.ts'
import { viewsOf } from './scope-views.ts'

const LONGEST_PAGE = 1000

/** Columns that clients may write. */
const writable = ({ names }: AnyTable): string[] =>
  names.filter(
    (name) => !name.startsWith('_raw_data_') && !['connection_id', 'created_at', 'updated_at'].includes(name),
  )

type ScopePlace = readonly [plugin: string, connectionId: number, scopeId: string]
type ScopeFilter = NonNullable<Parameters<ScopeService['list']>[2]>

export function scopeService(context: ServiceContext, deleteAlone: DeleteAlone): ScopeService {
  const { kysely } = context.database
  const stored = (...place: ScopePlace) => storedScope(context, place)
  return {
    async put(plugin, connectionId, scopes) {
      const { source, rows, key } = await store(context, plugin, connectionId, scopes, true)
      const saved = await readByKeys(
        rows.map((row) => row[key]),
        (piece) => storedAmong(kysely, source, connectionId, piece),
      )
      const byKey = new Map(saved.map((row) => [String(row[key]), publicScope(source, row)]))
      return rows.map((row) => byKey.get(String(row[key]))).filter((scope) => scope !== undefined)
    },
    async add(plugin, connectionId, scopes) {
      await store(context, plugin, connectionId, scopes, false)
    },
    list: (plugin, connectionId, filter) => listScopes(context, plugin, connectionId, filter),
    async get(plugin, connectionId, scopeId, { blueprints: withBlueprints = false } = {}) {
      const { source, row } = await stored(plugin, connectionId, scopeId)
      const [view] = await viewsOf(context, source, [row], withBlueprints)
      return view as ScopeView
    },
    async update(plugin, connectionId, scopeId, changes, seen) {
      const { source, row, where } = await storedScope(context, [plugin, connectionId, scopeId], holdRow)
      if (isStale(row.updated_at, seen)) {
        throw new ChangedError(`Scope ${scopeTitle(source, row)}`, publicScope(source, row))
      }
      const { [scopeKey(source)]: _key, ...values } = columnsOf(source, changes)
      await requireScopeConfig(kysely, source, connectionId, values.scope_config_id)
      await updateRows(kysely, source.scope.table, where, { ...values, updated_at: laterThan(row.updated_at) })
      return publicScope(source, (await stored(plugin, connectionId, scopeId)).row)
    },
    remove: async (plugin, connectionId, scopeId, { dataOnly = false } = {}) =>
      removeScope(context, deleteAlone, await stored(plugin, connectionId, scopeId), dataOnly),
    latestSyncState: async (...place) => latestStates(kysely, await stored(...place)),
  }
}

async function storedScope(
  { database: { kysely }, plugins }: ServiceContext,
  [plugin, connectionId, scopeId]: ScopePlace,
  find = findRow,
): Promise<StoredScope> {
  const source = sourceNamed(plugins, plugin)
  const { columns } = source.scope.table
  const key = scopeKey(source)
  const isNumber = columns[key].kind === 'bigint' || columns[key].kind === 'integer'
  const isPossible = !isNumber || (/^\d{1,19}$/.test(scopeId) && BigInt(scopeId) < 2n ** 63n)
  const where = { connection_id: connectionId, [key]: scopeId }
  const row = isPossible && (await find(kysely, source.scope.table, where))
  if (!row) throw new UserError(`Connection ${connectionId} has no scope ${scopeId}.`, { status: 404 })
  return { source, row: row as StoredScope['row'], where }
}

/** Returns the checked column values of a scope. Numbers sent as text and the like are converted. */
function columnsOf(source: PluginSpec, values: Settings): Record<string, unknown> {
  if (values === null || typeof values !== 'object' || Array.isArray(values)) {
    throw new UserError('Each scope must be an object with the fields of a scope.')
  }
  const { table } = source.scope
  const columns = new Map(writable(table).map((column) => [publicName(column), column]))
  const picked = pickNames([...columns.keys()], values)
  const cells = Object.entries(picked).map(([name, value]) => {
    const column = columns.get(name) as string
    const isNumber = ['bigint', 'integer', 'double'].includes((table.columns[column] as Column).kind)
    return [column, isNumber && value === '' ? 0 : value]
  })
  return fitted(table, withBareAddresses(Object.fromEntries(cells)))
}

async function requireScopeConfig(
  kysely: Queries,
  source: PluginSpec,
  connectionId: number,
  id: unknown,
): Promise<void> {
  if (!id) return
  const config = await findRow(kysely, settingsTables(source).scopeConfigs, { id, connection_id: connectionId })
  if (!config) throw new UserError(`Connection ${connectionId} has no scope config ${id}.`)
}

const storedAmong = (queries: Queries, source: PluginSpec, connectionId: number, keys: readonly unknown[]) =>
  selectRows(queries, source.scope.table, (query) =>
    query.where('connection_id', '=', connectionId).where(scopeKey(source), 'in', keys),
  )

/** Stores scopes. `isOver` decides whether existing ones are overwritten or left as they are. */
async function store(
  { database, plugins }: ServiceContext,
  plugin: string,
  connectionId: number,
  scopes: readonly Settings[],
  isOver: boolean,
) {
  const { kysely } = database
  const source = sourceNamed(plugins, plugin)
  const { table } = source.scope
  const key = scopeKey(source)
  if (!(await findRow(kysely, settingsTables(source).connections, { id: connectionId }))) {
    throw new UserError(`There is no ${plugin} connection ${connectionId}.`)
  }
  const rows = scopes.map((scope) => ({ ...columnsOf(source, scope), connection_id: connectionId }) as SettingsRow)
  const unnamed = rows.find((row) => row[key] === undefined || row[key] === '' || row[key] === 0)
  if (unnamed) throw new UserError(`${publicName(key)} is missing: it names the scope.`)
  for (const id of new Set(rows.map((row) => row.scope_config_id))) {
    await requireScopeConfig(kysely, source, connectionId, id)
  }
  await retrying(database, () =>
    database.transaction(async (inside) => {
      const keys = rows.map((row) => row[key])
      const there = isOver
        ? []
        : await readByKeys(keys, (piece) => storedAmong(inside.kysely, source, connectionId, piece))
      const known = new Set(there.map((row) => String(row[key])))
      const written = rows.filter((row) => !known.has(String(row[key])))
      await write(
        inside,
        written.map((row) => {
          const _raw_data_params = scopeParams(source, connectionId, decodeRow(table, row))
          return table.row({ ...row, _raw_data_table: scopeOrigin(source), _raw_data_params })
        }),
      )
    }),
  )
  return { source, rows, key }
}

async function listScopes(
  context: ServiceContext,
  plugin: string,
  connectionId: number,
  { page = 1, pageSize = 100, searchTerm, blueprints: withBlueprints = false }: ScopeFilter = {},
): Promise<Listed<ScopeView>> {
  if (page < 1 || pageSize < 1 || pageSize > LONGEST_PAGE) {
    throw new UserError(`page must be at least 1 and pageSize from 1 to ${LONGEST_PAGE}.`)
  }
  const source = sourceNamed(context.plugins, plugin)
  const { count, items } = await selectPage(
    context.database.kysely,
    source.scope.table,
    { page, pageSize },
    (query) => {
      const own = query.where('connection_id', '=', connectionId)
      return searchTerm ? own.where(contains(sql.ref(titleColumn(source)), searchTerm)) : own
    },
    [[scopeKey(source), 'asc']],
  )
  return { count, items: await viewsOf(context, source, items, withBlueprints) }
}

async function latestStates(kysely: Queries, { source, row, where }: StoredScope) {
  const own = new Set(rawsOfFamily(source))
  const states = await selectRows(kysely, collectorLatestState, (query) =>
    query
      .where('raw_data_params', '=', scopeParams(source, where.connection_id, row))
      .orderBy('latest_success_start', 'desc'),
  )
  return states
    .filter(({ raw_data_table }) => own.has(raw_data_table))
    .map(({ raw_data_table, raw_data_params, latest_success_start }) => ({
      raw_data_table,
      raw_data_params,
      latest_success_start,
    }))
}
