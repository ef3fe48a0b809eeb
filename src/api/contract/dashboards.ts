import { z } from 'zod'
import { time } from './common.ts'

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
  metric: z.string().nullable().meta({ description: 'Whose items and explanation are behind it.' }),
  better: z.enum(['higher', 'lower']).nullable(),
  limits: z.array(z.number()),
  remedy: z.string().meta({ description: 'Why it may be empty, and what to do.' }),
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
export const dashboardRecord = dashboardSummary.extend({
  variables: z.array(variable),
  sections: z.array(z.object({ title: z.string().nullable(), panels: z.array(panel) })),
})
export const dashboardName = z.object({ dashboard: z.string().max(100) })
export const panelName = dashboardName.extend({ panel: z.string().max(100) })
export const variableName = dashboardName.extend({ variable: z.string().max(100) })

const values = z.record(z.string().max(50), z.union([z.string().max(500), z.array(z.string().max(500)).max(500)]))
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
  .meta({ description: 'What is chosen for the variables, as JSON: `{"project": "shop", "interval": "week"}`.' })
const moment = z.coerce.date()
export const choiceQuery = z.object({
  from: moment.optional().meta({ description: 'Six months before `to` unless said.' }),
  to: moment.optional().meta({ description: 'Now unless said.' }),
  values: chosenValues,
})
export const panelQuery = choiceQuery.extend({ format: z.enum(['json', 'csv']).default('json') })
export const optionsRecord = z.object({ options: z.array(z.object({ value: z.string(), label: z.string() })) })
export const rowsRecord = z.object({
  from: time,
  to: time,
  columns: z.array(column),
  rows: z.array(z.array(z.any())),
  isCut: z.boolean().meta({ description: 'There are more rows.' }),
})
