import { sql } from 'kysely'
import { withBareAddresses } from '../address-secrets.ts'
import { NOBODY, recordChange } from '../audit/record.ts'
import { readByKeys } from '../database/pieces.ts'
import type { Column, Table } from '../database/table.ts'
import { retrying, write } from '../database/write.ts'
import { UserError } from '../errors.ts'
import { forgetScope } from '../plugin-kit/forget-scope.ts'
import type { PluginSpec } from '../plugin-kit/plugin.ts'
import { settingsTables } from '../plugin-kit/settings-tables.ts'
import { blueprintScopes, blueprints } from '../system/projects.ts'
import { collectorLatestState } from '../system/state.ts'
import { requireNothingRuns, requireUnused } from './guards.ts'
import { deleteAlone } from './leases.ts'
import { domainScopesOf, entitiesOf } from './plan/domain-scopes.ts'
import type { ScopeView, Settings } from './records.ts'
import { deleteScopeData, scopeParams } from './scope-data.ts'
import type { ScopeService, ServiceContext } from './services.ts'
import { pickNames } from './settings.ts'
import { publicScope, publicScopeConfig, scopeKey, scopeTitle, sourceNamed, titleColumn } from './sources.ts'
import {
  decodeRow,
  deleteRows,
  findRow,
  fitted,
  publicName,
  publicRow,
  type Queries,
  selectPage,
  selectRows,
  updateRows,
} from './store.ts'
import { leasesOfScope } from './task-leases.ts'
import { ChangedError, holdRow, isStale, laterThan } from './versions.ts'

const LONGEST_PAGE = 1000

/** Columns that clients may write. */
const writable = ({ names }: Table<any>): string[] =>
  names.filter(
    (name) => !name.startsWith('_raw_data_') && !['connection_id', 'created_at', 'updated_at'].includes(name),
  )

export function scopeService({ database, plugins, secrets, actor = NOBODY }: ServiceContext): ScopeService {
  const { kysely } = database

  /** Column values of what was sent, checked; numbers sent as text and the like are converted. */
  function columnsOf(source: PluginSpec, sent: Settings): Record<string, unknown> {
    if (sent === null || typeof sent !== 'object' || Array.isArray(sent)) {
      throw new UserError('Each scope must be an object with the fields of a scope.')
    }
    const { table } = source.scope
    const columns = new Map(writable(table).map((column) => [publicName(column), column]))
    const picked = pickNames([...columns.keys()], sent)
    const values = Object.entries(picked).map(([name, value]) => {
      const column = columns.get(name) as string
      const isNumber = ['bigint', 'integer', 'double'].includes((table.columns[column] as Column).kind)
      return [column, isNumber && value === '' ? 0 : value]
    })
    return fitted(table, withBareAddresses(Object.fromEntries(values)))
  }

  async function requireScopeConfig(source: PluginSpec, connectionId: number, id: unknown): Promise<void> {
    if (!id) return
    const config = await findRow(kysely, settingsTables(source).scopeConfigs, { id, connection_id: connectionId })
    if (!config) throw new UserError(`Connection ${connectionId} has no scope config ${id}.`)
  }

  async function stored(plugin: string, connectionId: number, scopeId: string, find = findRow) {
    const source = sourceNamed(plugins, plugin)
    const { columns } = source.scope.table
    const key = scopeKey(source)
    const isNumber = columns[key].kind === 'bigint' || columns[key].kind === 'integer'
    const isPossible = !isNumber || (/^\d{1,19}$/.test(scopeId) && BigInt(scopeId) < 2n ** 63n)
    const where = { connection_id: connectionId, [key]: scopeId }
    const row = isPossible && (await find(kysely, source.scope.table, where))
    if (!row) throw new UserError(`Connection ${connectionId} has no scope ${scopeId}.`, { status: 404 })
    return { source, row: row as typeof row & { readonly updated_at: Date }, where }
  }

  async function viewsOf(source: PluginSpec, rows: readonly any[], withBlueprints: boolean): Promise<ScopeView[]> {
    const configIds = [...new Set(rows.map((row) => row.scope_config_id).filter(Boolean))]
    const configs = configIds.length
      ? await selectRows(kysely, settingsTables(source).scopeConfigs, (query) => query.where('id', 'in', configIds))
      : []
    const users = withBlueprints ? await blueprintsByScope(source, rows) : new Map()
    return rows.map((row) => {
      const config = configs.find(({ id }) => id === row.scope_config_id)
      const using = users.get(String(row[scopeKey(source)]))
      return {
        scope: publicScope(source, row),
        ...(config && { scopeConfig: publicScopeConfig(source, config, secrets) }),
        ...(using && { blueprints: using }),
      }
    })
  }

  async function blueprintsByScope(source: PluginSpec, rows: readonly any[]): Promise<Map<string, Settings[]>> {
    const links = await readByKeys(
      rows.map((row) => String(row[scopeKey(source)])),
      (piece) =>
        selectRows(kysely, blueprintScopes, (query) =>
          query
            .where('plugin_name', '=', source.name)
            .where('connection_id', '=', rows[0].connection_id)
            .where('scope_id', 'in', piece),
        ),
    )
    const ids = new Set(links.map(({ blueprint_id }) => blueprint_id))
    const found = await readByKeys(ids, (piece) =>
      selectRows(kysely, blueprints, (query) => query.where('id', 'in', piece)),
    )
    const shown = new Map(
      found.map((row) => {
        const { beforePlan: _before, afterPlan: _after, ...blueprint } = publicRow(blueprints, row)
        return [row.id, { ...blueprint, plan: null, connections: null, labels: null } as Settings]
      }),
    )
    const groups = Map.groupBy(links, ({ scope_id }) => scope_id)
    return new Map([...groups].map(([id, own]) => [id, own.flatMap((link) => shown.get(link.blueprint_id) ?? [])]))
  }

  const storedAmong = (source: PluginSpec, connectionId: number, keys: readonly unknown[], queries = kysely) =>
    selectRows(queries, source.scope.table, (query) =>
      query.where('connection_id', '=', connectionId).where(scopeKey(source), 'in', keys),
    )

  /** What is there is written over, or left as it is. */
  async function store(plugin: string, connectionId: number, scopes: readonly Settings[], isOver: boolean) {
    const source = sourceNamed(plugins, plugin)
    const { table } = source.scope
    const key = scopeKey(source)
    if (!(await findRow(kysely, settingsTables(source).connections, { id: connectionId }))) {
      throw new UserError(`There is no ${plugin} connection ${connectionId}.`)
    }
    const rows = scopes.map((scope) => ({ ...columnsOf(source, scope), connection_id: connectionId }) as any)
    const unnamed = rows.find((row) => row[key] === undefined || row[key] === '' || row[key] === 0)
    if (unnamed) throw new UserError(`${publicName(key)} is missing: it names the scope.`)
    for (const id of new Set(rows.map((row) => row.scope_config_id))) {
      await requireScopeConfig(source, connectionId, id)
    }
    await retrying(database, () =>
      database.transaction(async (inside) => {
        const keys = rows.map((row) => row[key])
        const there = isOver
          ? []
          : await readByKeys(keys, (piece) => storedAmong(source, connectionId, piece, inside.kysely))
        const known = new Set(there.map((row) => String(row[key])))
        const written = rows.filter((row) => !known.has(String(row[key])))
        await write(
          inside,
          written.map((row) => {
            const _raw_data_params = scopeParams(source, connectionId, decodeRow(table, row))
            return table.row({ ...row, _raw_data_table: `_raw_${plugin}_scopes`, _raw_data_params })
          }),
        )
      }),
    )
    return { source, rows, key }
  }

  return {
    async put(plugin, connectionId, scopes) {
      const { source, rows, key } = await store(plugin, connectionId, scopes, true)
      const saved = await readByKeys(
        rows.map((row) => row[key]),
        (piece) => storedAmong(source, connectionId, piece),
      )
      const byKey = new Map(saved.map((row) => [String(row[key]), publicScope(source, row)]))
      return rows.map((row) => byKey.get(String(row[key]))).filter((scope) => scope !== undefined)
    },
    async add(plugin, connectionId, scopes) {
      await store(plugin, connectionId, scopes, false)
    },
    async list(
      plugin,
      connectionId,
      { page = 1, pageSize = 100, searchTerm, blueprints: withBlueprints = false } = {},
    ) {
      if (page < 1 || pageSize < 1 || pageSize > LONGEST_PAGE) {
        throw new UserError(`page must be at least 1 and pageSize from 1 to ${LONGEST_PAGE}.`)
      }
      const source = sourceNamed(plugins, plugin)
      const wanted = searchTerm?.toLowerCase().replace(/[!%_]/g, '!$&')
      const { count, items } = await selectPage(
        kysely,
        source.scope.table,
        { page, pageSize },
        (query) => {
          const own = query.where('connection_id', '=', connectionId)
          const title = sql.ref(titleColumn(source))
          return wanted ? own.where(sql<boolean>`lower(${title}) like ${`%${wanted}%`} escape '!'`) : own
        },
        [[scopeKey(source), 'asc']],
      )
      return { count, items: await viewsOf(source, items, withBlueprints) }
    },
    async get(plugin, connectionId, scopeId, { blueprints: withBlueprints = false } = {}) {
      const { source, row } = await stored(plugin, connectionId, scopeId)
      const [view] = await viewsOf(source, [row], withBlueprints)
      return view as ScopeView
    },
    async update(plugin, connectionId, scopeId, changes, seen) {
      const { source, row, where } = await stored(plugin, connectionId, scopeId, holdRow)
      if (isStale(row.updated_at, seen)) {
        throw new ChangedError(`Scope ${scopeTitle(source, row)}`, publicScope(source, row))
      }
      const { [scopeKey(source)]: _key, ...values } = columnsOf(source, changes)
      await requireScopeConfig(source, connectionId, values.scope_config_id)
      await updateRows(kysely, source.scope.table, where, { ...values, updated_at: laterThan(row.updated_at) })
      return publicScope(source, (await stored(plugin, connectionId, scopeId)).row)
    },
    async remove(plugin, connectionId, scopeId, { dataOnly = false } = {}) {
      const { source, row, where } = await stored(plugin, connectionId, scopeId)
      const used = { plugin_name: plugin, connection_id: connectionId, scope_id: scopeId }
      if (!dataOnly) await requireUnused(kysely, `Scope ${scopeTitle(source, row)}`, used)
      await requireNothingRuns(kysely)
      const recorded = (queries: Queries, what: string) =>
        recordChange(queries, actor, {
          action: 'delete',
          subject: `${plugin} ${what}`,
          key: `${connectionId}:${scopeId}`,
          before: publicScope(source, row),
          after: null,
        })
      await deleteAlone(database, leasesOfScope(plugins, source, connectionId, row), async () => {
        // The first of what is deleted; the rest follows, in parts.
        await database.transaction(async (inside) => {
          await forgetScope(inside, source.name, scopeParams(source, connectionId, row))
          await recorded(inside.kysely, 'scope data')
        })
        await deleteScopeData(database, plugins, source, connectionId, row)
        for (const rows of domainScopesOf(source, connectionId, row, entitiesOf([]))) {
          for (const plugin of plugins) await plugin.forget?.(database, rows)
        }
        if (dataOnly) return
        await database.transaction(async (inside) => {
          await deleteRows(inside.kysely, source.scope.table, where)
          await recorded(inside.kysely, 'scope')
        })
      })
      return publicScope(source, row)
    },
    async latestSyncState(plugin, connectionId, scopeId) {
      const { source, row } = await stored(plugin, connectionId, scopeId)
      const states = await selectRows(kysely, collectorLatestState, (query) =>
        query
          .where('raw_data_params', '=', scopeParams(source, connectionId, row))
          .orderBy('latest_success_start', 'desc'),
      )
      return states
        .filter(({ raw_data_table }) => raw_data_table.startsWith(`_raw_${plugin}`))
        .map(({ raw_data_table, raw_data_params, latest_success_start }) => ({
          raw_data_table,
          raw_data_params,
          latest_success_start,
        }))
    },
  }
}
