import { counted } from '../../basics/counted.ts'
import { preparedOnly } from '../../basics/user-patterns.ts'
import { UserError } from '../../errors.ts'
import type { Settings } from '../../plugin-kit/spec/fields.ts'
import { settingsTables } from '../../plugin-kit/task/settings-tables.ts'
import { blueprintScopes, blueprints, scopeSelectors } from '../../system/projects.ts'
import { checkName } from '../connections/connections.ts'
import { ConflictError, requireNothingRuns } from '../guards.ts'
import type { ScopeConfig } from '../records.ts'
import type { ScopeConfigService, ServiceContext } from '../services.ts'
import { checkSettings, pickNames, requireReadable, sealSettings } from '../settings.ts'
import { publicScope, publicScopeConfig, scopeKey, scopeTitle, sourceNamed } from '../sources.ts'
import { deleteRows, findRow, insertRow, type Queries, selectRows, updateRows } from '../store.ts'
import { ChangedError, holdRow, isStale, laterThan } from '../versions.ts'

const LONGEST_NAME = 255

/** Throws when a selector assigns this scope config: without it, the scopes that the selector finds could not be stored. */
async function requireNotGiven(queries: Queries, plugin: string, { id, connectionId, name }: ScopeConfig) {
  const rows = await selectRows(queries, scopeSelectors, (query) =>
    query.where('plugin', '=', plugin).where('connection_id', '=', connectionId),
  )
  const giving = rows.filter(({ selectors }) => selectors.some((each: Settings) => each.scopeConfigId === id))
  if (giving.length === 0) return
  const users = await selectRows(queries, blueprints, (query) =>
    query.where(
      'id',
      'in',
      giving.map(({ blueprint_id }) => blueprint_id),
    ),
  )
  const names = users.map((each) => each.name)
  throw new ConflictError(`Scope config ${name} is used by selectors of ${names.join(', ')}: delete them first.`, {
    blueprints: names,
    projects: users.map(({ project_name }) => project_name).filter((each) => each !== ''),
  })
}

export function scopeConfigService({ database, plugins, secrets }: ServiceContext): ScopeConfigService {
  const { kysely } = database
  const sourceOf = (plugin: string) => {
    const source = sourceNamed(plugins, plugin)
    return { source, table: settingsTables(source).scopeConfigs }
  }

  async function stored(plugin: string, connectionId: number, id: number, find = findRow): Promise<ScopeConfig> {
    const { source, table } = sourceOf(plugin)
    const row = await find(kysely, table, { id, connection_id: connectionId })
    if (!row) throw new UserError(`Connection ${connectionId} has no scope config ${id}.`, { status: 404 })
    return publicScopeConfig(source, row, secrets)
  }

  async function save(plugin: string, connectionId: number, input: Settings, before?: ScopeConfig) {
    const { source, table } = sourceOf(plugin)
    if (!before && !(await findRow(kysely, settingsTables(source).connections, { id: connectionId }))) {
      throw new UserError(`There is no ${plugin} connection ${connectionId}.`, { status: 404 })
    }
    const { name: nameInput, entities = before?.entities } = pickNames(['name', 'entities'], input)
    const name = checkName(nameInput ?? before?.name, LONGEST_NAME)
    if (entities && !(Array.isArray(entities) && entities.every((each) => typeof each === 'string'))) {
      throw new UserError('entities must be a list of words such as CODE or TICKET.')
    }
    if (before) requireReadable(source.scopeConfig.fields, before, input)
    const values = checkSettings(source.scopeConfig.fields, input, before)
    preparedOnly(() => source.scopeConfig.prepare(values))
    const namesake = await findRow(kysely, table, { name, connection_id: connectionId })
    if (namesake && namesake.id !== before?.id) {
      throw new UserError(`A ${plugin} scope config of this connection is already called ${name}: choose another name.`)
    }
    const sealed = sealSettings(source.scopeConfig.fields, values, secrets)
    const row = { name, connection_id: connectionId, entities: entities ?? [], ...sealed }
    const id = before?.id ?? (await insertRow(kysely, table, row))
    if (before) await updateRows(kysely, table, { id }, { ...row, updated_at: laterThan(before.updatedAt) })
    return stored(plugin, connectionId, id)
  }

  return {
    async list(plugin, connectionId) {
      const { source, table } = sourceOf(plugin)
      const rows = await selectRows(kysely, table, (query) =>
        query.where('connection_id', '=', connectionId).orderBy('id', 'desc'),
      )
      return rows.map((row) => publicScopeConfig(source, row, secrets))
    },
    create: (plugin, connectionId, values) => save(plugin, connectionId, values),
    get: (plugin, connectionId, id) => stored(plugin, connectionId, id),
    async update(plugin, connectionId, id, values, seen) {
      const before = await stored(plugin, connectionId, id, holdRow)
      if (isStale(before.updatedAt, seen)) throw new ChangedError(`Scope config ${before.name}`, before)
      return save(plugin, connectionId, values, before)
    },
    async remove(plugin, connectionId, id) {
      const { source, table } = sourceOf(plugin)
      const config = await stored(plugin, connectionId, id)
      const users = await selectRows(kysely, source.scope.table, (query) => query.where('scope_config_id', '=', id))
      if (users.length > 0) {
        throw new ConflictError(
          `Scope config ${config.name} is used by ${counted(users.length, 'scope')}: give them another one first.`,
          users.map((row) => publicScope(source, row)),
        )
      }
      await requireNotGiven(kysely, plugin, config)
      await requireNothingRuns(kysely)
      if ((await deleteRows(kysely, table, { id })) === 0) {
        throw new UserError(`There is no ${plugin} scope config ${id}.`, { status: 404 })
      }
      return config
    },
    async requireFreeName(plugin, name, id) {
      if (typeof name !== 'string') return
      const namesakes = await selectRows(kysely, sourceOf(plugin).table, (query) =>
        query.where('name', '=', name.trim()),
      )
      if (namesakes.length === 0 || namesakes.some((each) => each.id === id)) return
      throw new UserError(`A ${plugin} scope config is already called ${name.trim()}: choose another name.`)
    },
    async projects(plugin, id) {
      const { source, table } = sourceOf(plugin)
      const config = await findRow(kysely, table, { id })
      if (!config) throw new UserError(`There is no ${plugin} scope config ${id}.`, { status: 404 })
      const scopes = await selectRows(kysely, source.scope.table, (query) => query.where('scope_config_id', '=', id))
      const titles = new Map(scopes.map((row) => [String(row[scopeKey(source)]), scopeTitle(source, row)]))
      if (titles.size === 0) return []
      const links = await selectRows(kysely, blueprintScopes, (query) =>
        query
          .where('plugin_name', '=', plugin)
          .where('connection_id', '=', Number(config.connection_id))
          .where('scope_id', 'in', [...titles.keys()]),
      )
      const users = await selectRows(kysely, blueprints, (query) => query.where('project_name', '<>', '').orderBy('id'))
      return users
        .map((blueprint) => ({
          name: blueprint.project_name,
          blueprintId: blueprint.id,
          scopes: links
            .filter(({ blueprint_id }) => blueprint_id === blueprint.id)
            .map(({ scope_id }) => ({ scopeId: scope_id, scopeName: titles.get(scope_id) ?? '' })),
        }))
        .filter((project) => project.scopes.length > 0)
    },
  }
}
