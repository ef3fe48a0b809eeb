/** Writes the stored configuration as a file that `apply` accepts. Secrets become environment variables. */
import { readBlueprints } from '../control-plane/blueprints/blueprint-rows.ts'
import type { Blueprint, Project } from '../control-plane/records.ts'
import { allConnected, type Connected } from '../control-plane/sources.ts'
import { selectRows } from '../control-plane/store.ts'
import type { Fields, Settings } from '../plugin-kit/spec/fields.ts'
import type { Plan } from '../plugin-kit/spec/plan.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { blueprints } from '../system/projects.ts'
import { isSame } from './change.ts'
import { type Path, writeConfigText } from './config-file.ts'
import type { ConfigContext } from './context.ts'
import { projectDefaults } from './document.ts'
import { standardOf, stateOf } from './field-values.ts'
import { exportFields as ownFieldsOf } from './own-fields.ts'
import { type ConnectionNames, connectionNames, planForFile } from './portable-plans.ts'
import { idOfScope, scopesOf } from './stored-scopes.ts'
import { givenByProjects, namedBy, readSelectors, type StoredSelector } from './stored-selectors.ts'
import { readTemplates } from './stored-templates.ts'
import { type VariableNames, variableNames } from './variable-names.ts'

/** A query that takes longer means that the database is in trouble, and should not be burdened further. */
const LONGEST_QUESTION_SECONDS = 60

interface Exporting extends Pick<ConfigContext, 'control' | 'services'> {
  readonly names: VariableNames
  readonly owners: readonly Connected[]
  readonly connectionsByName: ConnectionNames
}

const byName = <Item>(items: Iterable<readonly [string, Item]>): Record<string, Item> =>
  Object.fromEntries([...items].sort(([left], [right]) => (left < right ? -1 : 1)))

type Exported = Pick<ConfigContext, 'control' | 'servicesOn'>

export const exportConfig = async (context: Exported): Promise<string> => writeConfigText(await storedConfig(context))

/** Reads the state of one moment, so that rows that are deleted meanwhile are still complete. `writeConfigText` makes the text. */
export const storedConfig = ({ control, servicesOn }: Exported): Promise<unknown> =>
  control.database.reading(LONGEST_QUESTION_SECONDS, (inside) =>
    exportOn({ ...control, database: inside }, servicesOn(inside)),
  )

async function exportOn(control: ConfigContext['control'], services: ConfigContext['services']): Promise<unknown> {
  const { database, plugins, secrets } = control
  const names = variableNames(await readTemplates(database), secrets)
  const connectionsByName = await connectionNames(plugins, services)
  const exporting: Exporting = { control, services, names, owners: allConnected(plugins), connectionsByName }
  const connections: [string, unknown][] = []
  for (const owner of exporting.owners) {
    const own: [string, unknown][] = []
    for (const { id, name } of await services.connections.list(owner.name)) {
      own.push([name, await exportConnection(exporting, owner, id)])
    }
    if (own.length > 0) connections.push([owner.name, byName(own)])
  }
  const projects: [string, unknown][] = []
  for (let page = 1; ; page++) {
    const { items } = await services.projects.list({ page, pageSize: 100 })
    for (const project of items) projects.push([project.name, await exportProject(exporting, project)])
    if (items.length < 100) break
  }
  const fields = await ownFieldsOf(database)
  return names.written({
    ...(Object.keys(fields).length > 0 && { fields }),
    connections: byName(connections),
    projects: byName(projects),
  })
}

/** Returns the values that differ from the defaults. */
function exportFields({ names }: Exporting, path: Path, fields: Fields, values: Settings): Record<string, unknown> {
  const standard = standardOf(fields)
  const different = Object.entries(stateOf(fields, values)).filter(([name, value]) => !isSame(value, standard[name]))
  return Object.fromEntries(
    different.map(([name, value]) => [name, names.hidden([...path, name], value, fields[name]?.kind === 'secret')]),
  )
}

async function exportConnection(exporting: Exporting, { name: plugin, fields, source }: Connected, id: number) {
  const { services } = exporting
  if (!source) return {}
  const connection = await services.connections.reveal(plugin, id)
  const path = ['connections', plugin, connection.name]
  const configs = await services.scopeConfigs.list(plugin, id)
  const rules = configs.map(({ name, entities, ...values }): [string, unknown] => [
    name,
    {
      ...(entities.length > 0 && { entities }),
      ...exportFields(exporting, [...path, 'scopeConfigs', name], source.scopeConfig.fields, values),
    },
  ])
  return {
    ...exportFields(exporting, path, fields, connection),
    ...(configs.length > 0 && { scopeConfigs: byName(rules) }),
  }
}

const WITHOUT_BLUEPRINT = { schedule: 'manual', enable: false }

async function exportProject(exporting: Exporting, { name, description, metrics, blueprint }: Project) {
  const standard: Record<string, unknown> = projectDefaults()
  const all = {
    description,
    metrics: metrics
      .filter(({ enable }) => enable)
      .map(({ pluginName, pluginOption }) => (hasFields(pluginOption) ? { [pluginName]: pluginOption } : pluginName)),
    ...(blueprint ? await exportBlueprint(exporting, blueprint.id) : WITHOUT_BLUEPRINT),
  }
  const different = Object.entries(all).filter(
    ([field, value]) => ['metrics', 'schedule', 'timeAfter'].includes(field) || !isSame(value, standard[field]),
  )
  return Object.fromEntries(
    different.map(([field, value]) => [field, exporting.names.hidden(['projects', name, field], value, false)]),
  )
}

const hasFields = (option: unknown): boolean =>
  option !== null && typeof option === 'object' && Object.keys(option).length > 0

async function exportBlueprint(exporting: Exporting, id: number) {
  const { database, secrets } = exporting.control
  const rows = await selectRows(database.kysely, blueprints, (query) => query.where('id', '=', id))
  const [blueprint]: readonly Blueprint[] = await readBlueprints(database.kysely, rows, secrets)
  if (!blueprint) return WITHOUT_BLUEPRINT
  const written = (plan: Plan) => planForFile(plan, exporting.connectionsByName)
  const { isManual, cronConfig, enable, timeAfter, skipOnFail, priority, labels, mode } = blueprint
  return {
    schedule: isManual ? 'manual' : cronConfig,
    enable,
    timeAfter: timeAfter?.toISOString() ?? null,
    skipOnFail,
    priority,
    labels,
    ...(blueprint.skipCollectors && { skipCollectors: true }),
    ...(blueprint.fullSync && { fullSync: true }),
    ...(blueprint.beforePlan && { beforePlan: written(blueprint.beforePlan) }),
    ...(mode === 'ADVANCED'
      ? { plan: written(blueprint.plan) }
      : { collect: await exportCollected(exporting, blueprint) }),
    ...(blueprint.afterPlan && { afterPlan: written(blueprint.afterPlan) }),
  }
}

async function exportCollected({ control, services, owners }: Exporting, { id, connections }: Blueprint) {
  const stored = await readSelectors(control.database, id)
  const collect: { readonly connection: string }[] = []
  for (const { name: plugin, source } of owners) {
    for (const { id: connectionId, name } of await services.connections.list(plugin)) {
      const link = connections.find((each) => each.pluginName === plugin && each.connectionId === connectionId)
      const own = stored.find((each) => each.plugin === plugin && each.connectionId === connectionId)
      const connection = `${plugin}/${name}`
      if (!source) {
        if (link) collect.push({ connection })
        continue
      }
      if (!link && !own) continue
      const configs = await services.scopeConfigs.list(plugin, connectionId)
      const selectors = own?.selectors ?? []
      const others = await unchosen({ control, services }, source, connectionId, link?.scopes ?? [], selectors)
      for (const { scopeConfigId, scopes, except, archived, topic } of [...selectors, ...others]) {
        const scopeConfig = configs.find((each) => each.id === scopeConfigId)?.name
        collect.push({
          connection,
          scopes: scopes.map(inOrder),
          ...(except.length > 0 && { except }),
          ...(archived && { archived }),
          ...(topic !== undefined && { topic }),
          ...(scopeConfig !== undefined && { scopeConfig }),
        } as { connection: string })
      }
    }
  }
  return collect.sort((left, right) =>
    left.connection < right.connection ? -1 : left.connection > right.connection ? 1 : 0,
  )
}

/** Returns the scopes that were added by hand and that no selector names: by their names, or as objects if a name is not enough. */
async function unchosen(
  { control, services }: Pick<Exporting, 'control' | 'services'>,
  source: PluginSpec,
  connectionId: number,
  links: readonly { readonly scopeId: string }[],
  selectors: readonly StoredSelector[],
): Promise<StoredSelector[]> {
  const ids = new Set(links.map(({ scopeId }) => scopeId))
  const scopes = await scopesOf(services, source.name, connectionId)
  const choosing = selectors.map((selector) => ({ ...selector, names: namedBy(source, selector) }))
  const isGiven = await givenByProjects(control.database, source, connectionId)
  // A scope with its own rules is named beside the pattern that matches it. Otherwise applying the file would remove its rules.
  // Rules from a selector of another project are exported with that project.
  const isChosen = (scope: Settings) =>
    choosing.some(
      ({ names, scopeConfigId }) => names(scope) && (scopeConfigId !== 0 || !scope.scopeConfigId || isGiven(scope)),
    )
  const left = scopes.filter((scope) => ids.has(idOfScope(source, scope)) && !isChosen(scope))
  return [...Map.groupBy(left, ({ scopeConfigId = 0 }) => scopeConfigId)].map(([scopeConfigId, group]) => {
    const named = group.map((scope) => (isUnmistakable(scope.fullName) ? String(scope.fullName) : plain(scope)))
    return { scopeConfigId, scopes: named, except: [], archived: false }
  })
}

/** The path of a repository is unique, but the title of a board may not be. */
const isUnmistakable = (fullName: unknown) =>
  typeof fullName === 'string' && fullName.includes('/') && !fullName.includes('*')

/** Database engines return the fields of JSON in different orders. They are sorted, so that every server writes the same file. */
const inOrder = (scope: string | Settings) => (typeof scope === 'string' ? scope : byName(Object.entries(scope)))

/** Returns a scope without the columns that belong only to its row. */
const plain = (scope: Settings): Settings =>
  Object.fromEntries(
    Object.entries(scope).filter(
      ([name, value]) =>
        !name.startsWith('_') &&
        !['connectionId', 'scopeConfigId', 'createdAt', 'updatedAt'].includes(name) &&
        value !== '' &&
        value !== null,
    ),
  )
