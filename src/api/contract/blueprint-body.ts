import { z } from 'zod'
import type { Plan } from '../../plugin-kit/spec/plan.ts'
import {
  body,
  change,
  flag,
  id,
  labels,
  moment,
  nullAsAbsent,
  text,
  whole,
} from '../../plugin-kit/spec/request-values.ts'
import { FOUR_KEYS } from '../../plugins/index.ts'

const planTask = z
  .looseObject({
    plugin: z.any().optional(),
    subtasks: z.any().optional().meta({ description: 'Null: those that run by default.' }),
    options: z.any().optional(),
  })
  .meta({
    properties: {
      plugin: { type: 'string', description: 'Or `Plugin`.' },
      subtasks: { type: ['array', 'null'], items: { type: 'string' }, description: 'Null: the default ones.' },
      options: { type: 'object', description: 'Options of the plugin.' },
    },
  })

/** Checked by the services, which know plugins and subtasks. */
export const planBody = z
  .array(z.union([planTask, z.array(planTask)]))
  .meta({
    description:
      'Stages run one after another; the tasks of one stage run at the same time. A list of tasks alone is one stage.',
  })
  .transform((plan) => plan as unknown as Plan)

export const EXAMPLE_PLAN = [[{ plugin: FOUR_KEYS, subtasks: null, options: { projectName: 'shop' } }]]

const scope = body({ scopeId: text }, ['blueprintId', 'pluginName', 'connectionId'])
const connection = body({ pluginName: text, connectionId: id, scopes: nullAsAbsent(z.array(scope)) }, ['blueprintId'])
const mode = z.enum(['NORMAL', 'ADVANCED'])

/** Fields that are shown and cannot be set. Requests may contain them, since records are often sent back whole. */
export const READ_ONLY = ['id', 'createdAt', 'updatedAt', 'settings', 'problem']

/** How a field is given to a new blueprint, and in a change, where null resets it. */
const settable = <Schema extends z.ZodType, Empty>(schema: Schema, empty: Empty) => ({
  given: nullAsAbsent(schema),
  changed: change(schema, empty),
})
const FIELDS = {
  name: settable(text, ''),
  projectName: settable(text, ''),
  mode: settable(mode, undefined),
  plan: settable(planBody, []),
  enable: settable(flag, false),
  cronConfig: settable(text, ''),
  isManual: settable(flag, false),
  beforePlan: settable(planBody, null),
  afterPlan: settable(planBody, null),
  labels: settable(labels, []),
  connections: settable(z.array(connection), []),
  priority: settable(whole, 0),
  skipOnFail: settable(flag, false),
  timeAfter: settable(moment, null),
  skipCollectors: settable(flag, false),
  fullSync: settable(flag, false),
}
const fieldsAs = <Way extends 'given' | 'changed'>(way: Way) =>
  Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, field[way]])) as {
    [Name in keyof typeof FIELDS]: (typeof FIELDS)[Name][Way]
  }
export const blueprintFields = fieldsAs('given')
export const blueprintChanges = fieldsAs('changed')
