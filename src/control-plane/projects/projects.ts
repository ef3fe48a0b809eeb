import { sql } from 'kysely'
import { contains } from '../../database/like.ts'
import { retrying } from '../../database/write.ts'
import { domainTables } from '../../domain/index.ts'
import { UserError } from '../../errors.ts'
import { forgetProject } from '../../metrics/calculate/forget-project.ts'
import { alerts } from '../../system/alerts.ts'
import { pipelines } from '../../system/pipelines.ts'
import { blueprints, projectMetricSettings, projects } from '../../system/projects.ts'
import { deleteBlueprint, joinBlueprints, readBlueprintParts } from '../blueprints/blueprint-rows.ts'
import { withMaskedPlans } from '../blueprints/blueprints.ts'
import { checkName } from '../connections/connections.ts'
import { requireFinished } from '../guards.ts'
import { checkMetric } from '../plan/metric-plans.ts'
import type { Metric, NewBlueprint, Pipeline, Project } from '../records.ts'
import { joinPipelines, readPipelineParts } from '../runs/pipeline-rows.ts'
import { renameInRuns } from '../runs/rename-in-runs.ts'
import type { BlueprintService, ProjectService, ServiceContext } from '../services.ts'
import {
  deleteRows,
  findRow,
  type Ids,
  insertRow,
  publicRow,
  type Queries,
  selectPage,
  selectRows,
  updateRows,
} from '../store.ts'
import { ChangedError, holdRow, isStale, laterThan } from '../versions.ts'
import { followPolicy, policyOfProject, requirePolicy } from './project-policy.ts'
import { unknownProject } from './unknown-project.ts'

export const LONGEST_PROJECT_NAME = 100
/** Lists leave plans out: they show when and what is collected. Only a single project shows its plan. */
const NO_PLAN = 0
const DAILY = '0 0 * * *'
const MONTHS_BACK = 6

function defaultBlueprint(projectName: string): NewBlueprint {
  const now = new Date()
  const timeAfter = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS_BACK, now.getUTCDate()))
  return { name: `${projectName}-Blueprint`, mode: 'NORMAL', enable: true, cronConfig: DAILY, timeAfter }
}

/** Tables with a column for the project that their rows were computed for. */
const projectTables = domainTables.filter(({ names }) => names.includes('project_name'))

export function projectService(
  { database, plugins, secrets, changed }: ServiceContext,
  blueprintService: BlueprintService,
): ProjectService {
  const { kysely } = database

  async function stored(name: string, find = findRow) {
    const row = await find(kysely, projects, { name })
    if (!row) throw await unknownProject(kysely, name)
    return row
  }

  async function complete(rows: readonly { name: string }[], isList = false): Promise<Project[]> {
    const names = rows.map(({ name }) => name)
    if (names.length === 0) return []
    const own = kysely.selectFrom(blueprints.name).select('id').where('project_name', 'in', names)
    const [metrics, found, parts, last] = await Promise.all([
      selectRows(kysely, projectMetricSettings, (query) =>
        query.where('project_name', 'in', names).orderBy('plugin_name'),
      ),
      selectRows(kysely, blueprints, (query) => query.where('project_name', 'in', names)),
      readBlueprintParts(kysely, own, secrets, isList ? NO_PLAN : undefined),
      isList ? lastPipelines(own) : new Map<number, Pipeline>(),
    ])
    const byProject = new Map(joinBlueprints(found, parts).map((each) => [each.projectName, withMaskedPlans(each)]))
    const metricsOf = Map.groupBy(metrics, ({ project_name }) => project_name)
    return rows.map((row) => {
      const blueprint = byProject.get(row.name) ?? null
      const lastPipeline = blueprint && last.get(blueprint.id)
      return {
        ...publicRow(projects, row),
        metrics: (metricsOf.get(row.name) ?? []).map((metric) => ({
          pluginName: metric.plugin_name,
          pluginOption: metric.plugin_option,
          enable: metric.enable,
        })),
        blueprint,
        ...(lastPipeline && { lastPipeline }),
      }
    })
  }

  /** Reads the last pipeline of each blueprint. */
  async function lastPipelines(blueprintIds: Ids): Promise<Map<number, Pipeline>> {
    const newest = kysely
      .selectFrom(pipelines.name)
      .select((builder) => builder.fn.max<number>('id').as('id'))
      .where('blueprint_id', 'in', blueprintIds)
      .groupBy('blueprint_id')
    const [rows, parts] = await Promise.all([
      selectRows(kysely, pipelines, (query) => query.where('id', 'in', newest)),
      readPipelineParts(kysely, newest, secrets, NO_PLAN),
    ])
    return new Map(joinPipelines(rows, parts).map((pipeline) => [pipeline.blueprintId, pipeline]))
  }

  const get = async (name: string) => (await complete([await stored(name)]))[0] as Project

  return {
    async list({ keyword, names, sort = 'newest', ...page } = {}) {
      const { count, items } = await selectPage(
        kysely,
        projects,
        page,
        (query) => {
          const own = names ? query.where('name', 'in', [...names]) : query
          return keyword ? own.where(contains(sql.ref('name'), keyword)) : own
        },
        sort === 'name'
          ? [['name', 'asc']]
          : [
              ['created_at', sort === 'newest' ? 'desc' : 'asc'],
              ['name', 'asc'],
            ],
      )
      return { count, items: await complete(items, true) }
    },
    async create({ name: nameInput, description = '', metrics = [], blueprint }) {
      const name = checkName(nameInput, LONGEST_PROJECT_NAME)
      if (await findRow(kysely, projects, { name })) {
        throw new UserError(`There is already a project ${name}: choose another name.`)
      }
      await kysely.transaction().execute(async (transaction) => {
        await insertRow(transaction, projects, { name, description })
        await writeMetrics(transaction, plugins, name, metrics)
      })
      try {
        await blueprintService.create({ ...defaultBlueprint(name), ...blueprint, projectName: name })
      } catch (error) {
        await deleteRows(kysely, projectMetricSettings, { project_name: name })
        await deleteRows(kysely, projects, { name })
        throw error
      }
      return get(name)
    },
    get,
    exists: async (name) => (await findRow(kysely, projects, { name })) !== undefined,
    async update(name, { name: nameInput, description = '', metrics }, seen) {
      const before = await stored(name, holdRow)
      if (isStale(before.updated_at, seen)) throw new ChangedError(`Project ${name}`, await get(name))
      const newName = nameInput === undefined ? name : checkName(nameInput, LONGEST_PROJECT_NAME)
      if (newName !== name && (await findRow(kysely, projects, { name: newName }))) {
        throw new UserError(`There is already a project ${newName}: choose another name.`)
      }
      const policy = await policyOfProject(database, name)
      await retrying(database, () =>
        kysely.transaction().execute(async (transaction) => {
          await updateRows(
            transaction,
            projects,
            { name },
            { name: newName, description, updated_at: laterThan(before.updated_at) },
          )
          if (newName !== name) {
            for (const table of [projectMetricSettings, blueprints, alerts, ...projectTables]) {
              await updateRows(transaction, table, { project_name: name }, { project_name: newName })
            }
            await renameInRuns(transaction, name, newName, secrets)
          }
          if (metrics) await writeMetrics(transaction, plugins, newName, metrics)
        }),
      )
      if (metrics) await followPolicy(database, newName, policy)
      return get(newName)
    },
    async remove(name) {
      await stored(name)
      const own = await selectRows(kysely, blueprints, (query) => query.where('project_name', '=', name))
      await requireFinished(
        kysely,
        own.map(({ id }) => id),
        `project ${name}`,
      )
      await retrying(database, () =>
        database.transaction(async (inside) => {
          await forgetProject(inside, name)
          for (const { id } of own) await deleteBlueprint(inside.kysely, id)
          for (const table of [projectMetricSettings, alerts, ...projectTables]) {
            await deleteRows(inside.kysely, table, { project_name: name })
          }
          if ((await deleteRows(inside.kysely, projects, { name })) === 0) {
            throw await unknownProject(inside.kysely, name)
          }
        }),
      )
      changed('schedule')
    },
  }
}

/** Replaces all metrics of a project. */
async function writeMetrics(
  queries: Queries,
  plugins: ServiceContext['plugins'],
  project_name: string,
  metrics: readonly Metric[],
): Promise<void> {
  await deleteRows(queries, projectMetricSettings, { project_name })
  for (const [plugin_name, metric] of new Map(metrics.map((each) => [each.pluginName, each]))) {
    const plugin_option = metric.pluginOption ?? {}
    checkMetric(plugins, String(plugin_name), plugin_option)
    await requirePolicy(queries, String(plugin_name), plugin_option)
    await insertRow(queries, projectMetricSettings, { project_name, plugin_name, plugin_option, enable: metric.enable })
  }
}
