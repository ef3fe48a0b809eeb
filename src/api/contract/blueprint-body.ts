import { z } from 'zod'
import type { Plan } from '../../pipelines/records.ts'
import { id } from './common.ts'
import { body, change, flag, given, labels, moment, text, whole } from './lenient.ts'

/** Checked by the services, which know plugins and subtasks. */
export const planBody = z
  .array(
    z.array(
      z
        .looseObject({
          plugin: z.any().optional(),
          subtasks: z.any().optional().meta({ description: 'Null: those that run by default.' }),
          options: z.any().optional(),
        })
        .meta({
          properties: {
            plugin: { type: 'string', description: 'Or `Plugin`.' },
            subtasks: { type: ['array', 'null'], items: { type: 'string' }, description: 'Null: the default ones.' },
            options: { type: 'object', description: 'What the plugin asks for.' },
          },
        }),
    ),
  )
  .meta({ description: 'Stages run one after another, the tasks of a stage side by side.' })
  .transform((plan) => plan as unknown as Plan)

export const EXAMPLE_PLAN = [[{ plugin: 'dora', subtasks: null, options: { projectName: 'shop' } }]]

const scope = body({ scopeId: text }, ['blueprintId', 'pluginName', 'connectionId'])
const connection = body({ pluginName: text, connectionId: id, scopes: given(z.array(scope)) }, ['blueprintId'])
const mode = z.enum(['NORMAL', 'ADVANCED'])

/** What is shown and cannot be set; records are often sent back whole. */
export const READ_ONLY = ['id', 'createdAt', 'updatedAt', 'settings', 'problem']

export const blueprintFields = {
  name: given(text),
  projectName: given(text),
  mode: given(mode),
  plan: given(planBody),
  enable: given(flag),
  cronConfig: given(text),
  isManual: given(flag),
  beforePlan: given(planBody),
  afterPlan: given(planBody),
  labels: given(labels),
  connections: given(z.array(connection)),
  priority: given(whole),
  skipOnFail: given(flag),
  timeAfter: given(moment),
  skipCollectors: given(flag),
  fullSync: given(flag),
}
export const blueprintChanges = {
  name: change(text, ''),
  projectName: change(text, ''),
  mode: given(mode),
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
