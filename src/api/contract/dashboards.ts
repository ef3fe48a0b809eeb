import { z } from 'zod'
import { sharedDashboardRecord, values } from '../../control-plane/dashboards/shared-dashboards.ts'
import { type AnnotationKind, KINDS, MOST_ANNOTATIONS } from '../../dashboards/annotations.ts'
import { bounded, moment } from '../../plugin-kit/spec/request-values.ts'
import { time, timeOrNull } from './common.ts'

const column = z.object({
  name: z.string(),
  title: z.string(),
  kind: z.string().meta({ description: 'A unit, or text, moment, day, bytes or address.' }),
  link: z.string().nullable().meta({ description: 'The column with the address of what this one names.' }),
})
const panel = z.object({
  name: z.string(),
  title: z.string(),
  definition: z.string(),
  look: z.enum(['number', 'lines', 'bars', 'ranking', 'table']),
  columns: z.array(column),
  width: z.int().meta({ description: 'Of 24.' }),
  height: z.int().meta({ description: 'In rows of 30 pixels.' }),
  metric: z.string().nullable().meta({ description: 'The metric that explains the panel.' }),
  better: z.enum(['higher', 'lower']).nullable(),
  limits: z.array(z.number()),
  remedy: z.string().meta({ description: 'Why it may be empty, and what to do.' }),
  origin: z
    .object({ dashboard: z.string(), panel: z.string() })
    .meta({ description: 'Where it is defined: with a dashboard of your own, in another.' }),
})
const variable = z.object({
  name: z.string(),
  title: z.string(),
  isList: z.boolean().meta({ description: 'Several values can be chosen, or `__all`.' }),
  options: z.array(z.string()).nullable().meta({ description: 'Null: ask for its values.' }),
  remedy: z.string().nullable(),
})
export const dashboardSummary = z.object({
  name: z.string(),
  title: z.string(),
  question: z.string(),
  group: z.string(),
})
const range = z.object({ from: time, to: time })
export const dashboardRecord = dashboardSummary.extend({
  own: z
    .object({ id: z.int(), updatedAt: time })
    .nullable()
    .meta({ description: 'Set if a user created it, so it can be changed. Null: it comes with Weir.' }),
  missingField: z
    .object({ name: z.string(), title: z.string(), table: z.string() })
    .nullable()
    .meta({ description: 'A custom field that it reads and that no table has yet. Null: nothing is missing.' }),
  range: range
    .extend({ before: range.meta({ description: 'The period of the same length right before, for comparison.' }) })
    .meta({ description: 'The requested range as absolute times.' }),
  variables: z.array(variable),
  sections: z.array(z.object({ title: z.string().nullable(), panels: z.array(panel) })),
})
export const dashboardName = z.object({ dashboard: z.string().max(100) })
export const templateQuery = z.object({
  datasource: z
    .string()
    .regex(/^[\w-]{1,40}$/, 'must be the uid of a datasource: 1 to 40 letters, digits, - or _')
    .optional()
    .meta({ description: 'The uid of the datasource, for provisioning; without it, the import asks for one.' }),
})
export const templateRecord = z.record(z.string(), z.any()).meta({ description: 'JSON to import into Grafana.' })
export const panelName = dashboardName.extend({ panel: z.string().max(100) })
export const variableName = dashboardName.extend({ variable: z.string().max(100) })

const chosenValues = z
  .string()
  .max(20_000)
  .transform((text, context) => {
    try {
      return values.parse(JSON.parse(text))
    } catch {
      context.addIssue({ code: 'custom', message: 'must be a JSON object of variables and their values' })
      return z.NEVER
    }
  })
  .optional()
  .meta({ description: 'The chosen values of the variables, as JSON: `{"project": "shop", "interval": "week"}`.' })
const end = bounded(60)
export const rangeQuery = z.object({
  from: end.optional().meta({
    description:
      'A time such as 2026-01-31T12:00:00Z, or relative as in Grafana: `now-6M`, `now/w`, `now-1Q/Q`. Default: six months ago.',
  }),
  to: end.optional().meta({ description: 'The same. Default: now.' }),
})
export const choiceQuery = rangeQuery.extend({ values: chosenValues })
export const panelQuery = choiceQuery.extend({ format: z.enum(['json', 'csv']).default('json') })
export const optionsRecord = z.object({ options: z.array(z.object({ value: z.string(), label: z.string() })) })
export const rowsRecord = z.object({
  from: time,
  to: time,
  columns: z.array(column),
  rows: z.array(z.array(z.any())),
  isCut: z.boolean().meta({ description: 'There are more rows.' }),
})

const width = z.union([z.literal(6), z.literal(8), z.literal(12), z.literal(16), z.literal(24)])
const ownPanel = z.strictObject({
  dashboard: bounded(100),
  panel: bounded(100),
  width: width.meta({ description: 'Of 24.' }),
})
const ownFields = z.strictObject({
  title: bounded(100).trim().min(1, 'must not be empty'),
  question: bounded(255).trim().meta({ description: 'What it answers, in a sentence.' }),
  panels: z.array(ownPanel).max(60).meta({ description: 'In the order in which they are shown.' }),
})
export const newOwnDashboard = ownFields.partial({ question: true, panels: true })
export const ownDashboardChanges = ownFields.partial()

export const newSharedDashboard = z.strictObject({
  dashboard: bounded(100),
  values: values.default({}),
  from: end
    .default('now-6M')
    .meta({ description: 'A relative range stays relative: the link always shows current data.' }),
  to: end.default('now'),
  expiresAt: moment.nullable().default(null),
})
export const freshSharedDashboard = sharedDashboardRecord.extend({
  token: z.string().meta({ description: 'The page is at /shared/TOKEN. Shown once.' }),
})
export const sharedToken = z.object({ token: z.string().max(100) })
export const publicDashboard = dashboardRecord.extend({ values, expiresAt: timeOrNull })
export const publicPanelQuery = z.object({
  period: z
    .enum(['now', 'before'])
    .default('now')
    .meta({ description: '`before`: the period of the same length right before.' }),
})

export const annotationsQuery = rangeQuery.extend({
  project: bounded(255),
  kinds: bounded(100)
    .optional()
    .transform((text, context) => {
      const words = text === undefined ? [...KINDS] : text.split(',').map((word) => word.trim())
      const unknown = words.find((word) => !KINDS.includes(word as AnnotationKind))
      if (unknown === undefined) return words as AnnotationKind[]
      context.addIssue({ code: 'custom', message: `must be some of ${KINDS.join(', ')}, separated by commas` })
      return z.NEVER
    })
    .meta({
      description:
        'A list of deployment, incident, switch and change (numbers are counted differently from there on), separated by commas. Default: all.',
    }),
})
export const annotationsRecord = z.object({
  from: time,
  to: time,
  annotations: z.array(
    z.object({
      kind: z.enum(KINDS),
      at: time,
      title: z.string(),
      url: z.string().meta({ description: 'Empty if there is none. Addresses of our own pages begin with a slash.' }),
    }),
  ),
  isCut: z.boolean().meta({ description: `There are more than ${MOST_ANNOTATIONS} of a kind: the latest are here.` }),
})
