import { z } from 'zod'
import { ALL_ENTITIES } from '../../control-plane/plan/domain-scopes.ts'
import { publicName } from '../../control-plane/store.ts'
import type { AnyTable } from '../../database/table.ts'
import { domainTables } from '../../domain/index.ts'
import type { Fields } from '../../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import type { Delivery, PushSource } from '../../plugin-kit/spec/push-source.ts'
import { inTurn, type Routes } from '../api.ts'
import { answers } from '../contract/common.ts'
import { messageBody } from '../contract/message-body.ts'
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
const describeTable = ({ name, names, columns }: AnyTable) => ({
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

/** Descriptions of fields that forms and other programs can read. */
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

const entitiesOf = ({ entities }: Pick<PluginSpec, 'entities'>) =>
  ALL_ENTITIES.filter((type) => entities.some(({ spec }) => spec.domainTypes.includes(type)))

/** A plugin that uses the connections of another has no form of its own. */
const describedSource = (source: PluginSpec) =>
  source.settingsOf
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
          hasDeliveries: source.deliveries !== undefined,
          isPushed: false,
          messages: [],
        },
      ]

/** A push connection has only a name, and is its own only scope. */
const describedPushSource = (source: PushSource) => [
  {
    plugin: source.name,
    title: source.title,
    about: source.about ?? '',
    endpoint: '',
    rights: [...(source.rights ?? [])],
    connection: {},
    scope: { title: source.title, hasGroups: false, hasSearch: false },
    scopeConfig: {},
    entities: entitiesOf(source),
    hasDeliveries: false,
    isPushed: true,
    messages: source.deliveries.flatMap((delivery) => describedMessage(source, delivery)),
  },
]
const describedMessage = ({ name }: PushSource, { path, summary, message, example }: Delivery) =>
  message
    ? [
        {
          path: `/plugins/${name}/connections/{connectionId}/${path}`,
          title: summary('a connection'),
          schema: z.toJSONSchema(messageBody(message), { unrepresentable: 'any', io: 'input' }),
          example: example ?? {},
        },
      ]
    : []

const metric = z.object({
  requiredDataEntities: z.array(z.any()).nullable(),
  runAfter: z.array(z.string()).nullable(),
  isProjectMetric: z.boolean(),
})

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
      // Clients know this field by this spelling.
      task_mata: z.array(subtask),
    }),
  ),
})

const field = z
  .looseObject({
    kind: z.string(),
    label: z.string(),
    help: z.string().optional(),
    /** True if a form must have the field: always, or with the sign-in method that `authMethod` names. */
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
      .meta({ description: 'For a rule: the kinds of names that it matches, as in /v1/names.' }),
    within: z.string().optional().meta({ description: 'It selects from what the rule of this field matches.' }),
    isAllWhenEmpty: z.boolean().optional(),
    isPreviewed: z.boolean().optional().meta({ description: 'Its effect can be previewed before it is saved.' }),
  })
  .meta({ id: 'SettingField', description: 'A setting, as forms draw it.' })

const message = z.object({
  path: z.string(),
  title: z.string(),
  schema: z.any().meta({ description: 'Of the body, as JSON Schema.' }),
  example: z.any(),
})

const form = z.object({
  plugin: z.string(),
  title: z.string(),
  about: z.string(),
  endpoint: z.string().meta({ description: 'Where it usually is; empty: everywhere else.' }),
  rights: z.array(z.string()).meta({ description: 'What the credentials must be allowed to do.' }),
  connection: z.record(z.string(), field),
  scope: z.object({ title: z.string(), hasGroups: z.boolean(), hasSearch: z.boolean() }),
  scopeConfig: z.record(z.string(), field),
  hasDeliveries: z.boolean().meta({ description: 'Whether it can send changes by itself, with webhooks.' }),
  entities: z.array(z.string()).meta({ description: 'Kinds of domain rows that a scope config may choose among.' }),
  isPushed: z.boolean().meta({ description: 'It is not asked: what it knows is sent to its connections.' }),
  messages: z.array(message).meta({ description: 'What can be sent to a connection of it.' }),
})

const pluginListRoutes: Routes = (api, { plugins }) => {
  api.get(
    '/plugins',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'Plugins', response: answers(200, z.array(z.object({ plugin: z.string(), metric }))) },
    },
    async () =>
      plugins.map(({ name, plans }) => ({
        plugin: name,
        metric: { requiredDataEntities: null, runAfter: null, isProjectMetric: plans?.metric !== undefined },
      })),
  )
  api.get(
    '/plugininfo',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'Tables and subtasks of every plugin', response: answers(200, info) },
    },
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
}

const sourceListRoutes: Routes = (api, { plugins }) => {
  api.get(
    '/v1/sources',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Data sources, those that push too, with all that forms of their connections and scope configs need',
        response: answers(200, z.array(form)),
      },
    },
    async () =>
      plugins.flatMap(({ source, pushSource }) =>
        pushSource ? describedPushSource(pushSource) : source ? describedSource(source) : [],
      ),
  )
}

export const pluginRoutes = inTurn(pluginListRoutes, sourceListRoutes)
