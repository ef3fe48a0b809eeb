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

export const blueprintFields = {
  name: nullAsAbsent(text),
  projectName: nullAsAbsent(text),
  mode: nullAsAbsent(mode),
  plan: nullAsAbsent(planBody),
  enable: nullAsAbsent(flag),
  cronConfig: nullAsAbsent(text),
  isManual: nullAsAbsent(flag),
  beforePlan: nullAsAbsent(planBody),
  afterPlan: nullAsAbsent(planBody),
  labels: nullAsAbsent(labels),
  connections: nullAsAbsent(z.array(connection)),
  priority: nullAsAbsent(whole),
  skipOnFail: nullAsAbsent(flag),
  timeAfter: nullAsAbsent(moment),
  skipCollectors: nullAsAbsent(flag),
  fullSync: nullAsAbsent(flag),
}
export const blueprintChanges = {
  name: change(text, ''),
  projectName: change(text, ''),
  mode: nullAsAbsent(mode),
  plan: change(planBody, []),
  enable: change(flag, false),
  cronConfig: change(text, ''),
  isManual: change(flag, false),
  beforePlan: change(planBody, null),
  afterPlan: change(planBody, null),
  labels: change(labels, []),
  connections: change(z.array(connection), []),
  priority: change(whole, 0),
  skipOnFail: change(flag, false),
  timeAfter: change(moment, null),
  skipCollectors: change(flag, false),
  fullSync: change(flag, false),
}
