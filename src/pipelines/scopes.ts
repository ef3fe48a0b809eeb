import { sql } from 'kysely'
import type { Column, Table } from '../database/table.ts'
import { UserError } from '../errors.ts'
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
  deleteRows,
  findRow,
  fitted,
  insertRow,
  publicName,
  publicRow,
  selectPage,
  selectRows,
  updateRows,
} from './store.ts'
import { leasesOfScope } from './task-leases.ts'

const LONGEST_PAGE = 1000

/** Columns that clients may write. */
const writable = ({ names }: Table<any>): string[] =>
  names.filter(
    (name) => !name.startsWith('_raw_data_') && !['connection_id', 'created_at', 'updated_at'].includes(name),
  )

export function scopeService({ database, plugins, secrets }: ServiceContext): ScopeService {
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
    return fitted(table, Object.fromEntries(values))
  }

  async function requireScopeConfig(source: PluginSpec, connectionId: number, id: unknown): Promise<void> {
    if (!id) return
    const config = await findRow(kysely, settingsTables(source).scopeConfigs, { id, connection_id: connectionId })
    if (!config) throw new UserError(`Connection ${connectionId} has no scope config ${id}.`)
  }

  async function stored(plugin: string, connectionId: number, scopeId: string) {
    const source = sourceNamed(plugins, plugin)
    const { columns } = source.scope.table
    const key = scopeKey(source)
    const isNumber = columns[key].kind === 'bigint' || columns[key].kind === 'integer'
    const isPossible = !isNumber || (/^\d{1,19}$/.test(scopeId) && BigInt(scopeId) < 2n ** 63n)
    const where = { connection_id: connectionId, [key]: scopeId }
    const row = isPossible && (await findRow(kysely, source.scope.table, where))
    if (!row) throw new UserError(`Connection ${connectionId} has no scope ${scopeId}.`, { status: 404 })
    return { source, row, where }
  }

  async function viewsOf(source: PluginSpec, rows: readonly any[], withBlueprints: boolean): Promise<ScopeView[]> {
    const configIds = [...new Set(rows.map((row) => row.scope_config_id).filter(Boolean))]
    const configs = configIds.length
      ? await selectRows(kysely, settingsTables(source).scopeConfigs, (query) => query.where('id', 'in', configIds))
      : []
    const users = withBlueprints ? await blueprintsByScope(source.name, rows[0]?.connection_id) : new Map()
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

  async function blueprintsByScope(plugin: string, connectionId = 0): Promise<Map<string, Settings[]>> {
    const links = await selectRows(kysely, blueprintScopes, (query) =>
      query.where('plugin_name', '=', plugin).where('connection_id', '=', connectionId),
    )
    const all = new Map((await selectRows(kysely, blueprints)).map((row) => [row.id, row]))
    const users = new Map<string, Settings[]>()
    for (const { scope_id, blueprint_id } of links) {
      const row = all.get(blueprint_id)
      if (!row) continue
      const { beforePlan: _before, afterPlan: _after, ...blueprint } = publicRow(blueprints, row)
      const shown = { ...blueprint, plan: null, connections: null, labels: null }
      users.set(scope_id, [...(users.get(scope_id) ?? []), shown])
    }
    return users
  }

  return {
    async put(plugin, connectionId, scopes) {
      const source = sourceNamed(plugins, plugin)
      const { table } = source.scope
      const key = scopeKey(source)
      if (!(await findRow(kysely, settingsTables(source).connections, { id: connectionId }))) {
        throw new UserError(`There is no ${plugin} connection ${connectionId}.`)
      }
      const rows = scopes.map((scope) => ({ ...columnsOf(source, scope), connection_id: connectionId }) as any)
      for (const row of rows) {
        if (row[key] === undefined || row[key] === '' || row[key] === 0) {
          throw new UserError(`${publicName(key)} is missing: it names the scope.`)
        }
        await requireScopeConfig(source, connectionId, row.scope_config_id)
      }
      await kysely.transaction().execute(async (transaction) => {
        for (const row of rows) {
          const where = { connection_id: connectionId, [key]: row[key] }
          const origin = { _raw_data_table: `_raw_${plugin}_scopes` }
          const all = { ...Object.fromEntries(writable(table).map((name) => [name, null])), ...row, ...origin }
          const changed = await updateRows(transaction, table, where, all)
          if (changed === 0) await insertRow(transaction, table, all)
          const saved = await findRow(transaction, table, where)
          await updateRows(transaction, table, where, { _raw_data_params: scopeParams(source, connectionId, saved) })
        }
      })
      const saved = await Promise.all(rows.map((row) => stored(plugin, connectionId, String(row[key]))))
      return saved.map(({ row }) => publicScope(source, row))
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
    async update(plugin, connectionId, scopeId, changes) {
      const { source, where } = await stored(plugin, connectionId, scopeId)
      const { [scopeKey(source)]: _key, ...values } = columnsOf(source, changes)
      await requireScopeConfig(source, connectionId, values.scope_config_id)
      await updateRows(kysely, source.scope.table, where, values)
      return publicScope(source, (await stored(plugin, connectionId, scopeId)).row)
    },
    async remove(plugin, connectionId, scopeId, { dataOnly = false } = {}) {
      const { source, row, where } = await stored(plugin, connectionId, scopeId)
      const used = { plugin_name: plugin, connection_id: connectionId, scope_id: scopeId }
      if (!dataOnly) await requireUnused(kysely, `Scope ${scopeTitle(source, row)}`, used)
      await requireNothingRuns(kysely)
      await deleteAlone(database, leasesOfScope(plugins, source, connectionId, row), async () => {
        await deleteScopeData(database, plugins, source, connectionId, row)
        for (const rows of domainScopesOf(source, connectionId, row, entitiesOf([]))) {
          for (const plugin of plugins) await plugin.forget?.(database, rows)
        }
        if (!dataOnly) await deleteRows(kysely, source.scope.table, where)
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
