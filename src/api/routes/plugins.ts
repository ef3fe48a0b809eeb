import { z } from 'zod'
import type { Table } from '../../database/table.ts'
import { domainTables } from '../../domain/index.ts'
import { ALL_ENTITIES } from '../../pipelines/plan/domain-scopes.ts'
import { METRIC_PLANS } from '../../pipelines/plan/metric-plans.ts'
import { publicName } from '../../pipelines/store.ts'
import type { Fields, PluginSpec } from '../../plugin-kit/plugin.ts'
import type { Routes } from '../api.ts'
import { answers } from '../contract/common.ts'
import { PREVIEWED } from '../contract/metrics.ts'

const tags = ['plugins']

const tableInfo = z.object({
  table_name: z.string(),
  error: z.string().nullable(),
  field: z.array(
    z.object({
      name: z.string(),
      tags: z.string(),
      db_name: z.string(),
      data_type: z.string(),
      gorm_data_type: z.string(),
    }),
  ),
})
const describeTable = ({ name, names, columns }: Table<any>) => ({
  table_name: name,
  error: null,
  field: names.map((column) => {
    const { kind, isKey } = columns[column]
    return {
      name: publicName(column),
      tags: isKey ? 'primaryKey' : '',
      db_name: column,
      data_type: kind,
      gorm_data_type: kind,
    }
  }),
})

/** Schemas as forms and other programs can read them. */
const describedFields = (fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      {
        ...field,
        isRequired: !field.isOptional && !field.isManaged && field.default === undefined,
        ...(field.kind === 'json' && { schema: z.toJSONSchema(field.schema, { unrepresentable: 'any' }) }),
        ...(PREVIEWED.has(name) && { isPreviewed: true }),
      },
    ]),
  )

const entitiesOf = ({ entities }: PluginSpec) =>
  ALL_ENTITIES.filter((type) => entities.some(({ spec }) => spec.domainTypes.includes(type)))

export const pluginRoutes: Routes = (api, { plugins }) => {
  const metric = z.object({
    requiredDataEntities: z.array(z.any()).nullable(),
    runAfter: z.array(z.string()).nullable(),
    isProjectMetric: z.boolean(),
  })
  api.get(
    '/plugins',
    {
      schema: { tags, summary: 'Plugins', response: answers(200, z.array(z.object({ plugin: z.string(), metric }))) },
    },
    async () =>
      plugins.map(({ name }) => ({
        plugin: name,
        metric: { requiredDataEntities: null, runAfter: null, isProjectMetric: name in METRIC_PLANS },
      })),
  )
  const subtask = z.object({
    name: z.string(),
    required: z.boolean(),
    enabled_by_default: z.boolean(),
    description: z.string(),
    domain_types: z.array(z.string()),
  })
  const info = z.object({
    DomainInfos: z.array(tableInfo),
    PluginInfos: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        tables: z.array(tableInfo),
        // Clients know it by this spelling.
        task_mata: z.array(subtask),
      }),
    ),
  })
  api.get(
    '/plugininfo',
    { schema: { tags, summary: 'Tables and subtasks of every plugin', response: answers(200, info) } },
    async () => ({
      DomainInfos: domainTables.map(describeTable),
      PluginInfos: plugins.map(({ name, title, tables, subtasks }) => ({
        name,
        description: title,
        tables: tables.map(describeTable),
        task_mata: subtasks.map((each) => ({
          name: each.name,
          required: false,
          enabled_by_default: each.isDefault,
          description: `Reads ${each.reads.join(', ') || 'nothing'}; writes ${each.writes.join(', ') || 'nothing'}.`,
          domain_types: [...each.domainTypes],
        })),
      })),
    }),
  )
  const field = z
    .looseObject({
      kind: z.string(),
      label: z.string(),
      help: z.string().optional(),
      /** Whether a form has to have it: with the way of signing in that `authMethod` names, or always. */
      isRequired: z.boolean(),
      default: z.any().optional(),
      suggestion: z.any().optional(),
      isOnRequest: z.boolean().optional(),
      panel: z.string().optional(),
      isRotated: z.boolean().optional(),
      isManaged: z.boolean().optional(),
      isOptional: z.boolean().optional(),
      authMethod: z.string().optional(),
      choices: z.array(z.string()).optional(),
      size: z.int().optional(),
      isMultiline: z.boolean().optional(),
      schema: z.any().optional(),
      names: z
        .array(z.string())
        .optional()
        .meta({ description: 'Of a rule: the kinds of names that it speaks of, as /v1/names has them.' }),
      within: z.string().optional().meta({ description: 'It chooses among what the rule of this field matches.' }),
      isAllWhenEmpty: z.boolean().optional(),
      isPreviewed: z.boolean().optional().meta({ description: 'Its effect can be told before it is saved.' }),
    })
    .meta({ id: 'SettingField', description: 'A setting, as forms draw it.' })
  const form = z.object({
    plugin: z.string(),
    title: z.string(),
    about: z.string(),
    endpoint: z.string().meta({ description: 'Where it usually is; empty: everywhere else.' }),
    rights: z.array(z.string()).meta({ description: 'What the credentials must be allowed to do.' }),
    connection: z.record(z.string(), field),
    scope: z.object({ title: z.string(), hasGroups: z.boolean(), hasSearch: z.boolean() }),
    scopeConfig: z.record(z.string(), field),
    entities: z.array(z.string()).meta({ description: 'Kinds of domain rows that a scope config may choose among.' }),
  })
  api.get(
    '/v1/sources',
    {
      schema: {
        tags,
        summary: 'Data sources, with the fields of their connections and scope configs',
        response: answers(200, z.array(form)),
      },
    },
    async () =>
      plugins.flatMap(({ source }) =>
        !source || source.settingsOf
          ? []
          : [
              {
                plugin: source.name,
                title: source.title,
                about: source.about ?? '',
                endpoint: source.connection.endpoint,
                rights: [...(source.connection.rights ?? [])],
                connection: describedFields(source.connection.fields),
                scope: {
                  title: source.scope.title,
                  hasGroups: source.scope.remote !== undefined,
                  hasSearch: source.scope.remote?.search !== undefined,
                },
                scopeConfig: describedFields(source.scopeConfig.fields),
                entities: entitiesOf(source),
              },
            ],
      ),
  )
}
