import { z } from 'zod'
import { DIRECTIONS, KINDS, STATES, TARGETS, WEEKDAYS } from '../../alerts/records.ts'
import { LONGEST_PROJECT_NAME } from '../../control-plane/projects/projects.ts'
import { bounded, example } from '../../plugin-kit/spec/request-values.ts'
import { time, timeOrNull } from './common.ts'

const LARGEST_THRESHOLD = 1e12
const target = z.strictObject({
  kind: z
    .enum(TARGETS)
    .meta({ description: 'webhook: signed JSON; slack: {"text": …}, which other tools accept as well.' }),
  url: bounded(2000).optional().meta({ description: 'Stored encrypted. Leave it out of a change to keep it.' }),
  secret: bounded(200).optional().meta({ description: 'Signs the messages to a webhook. Never shown.' }),
})
const fields = {
  name: bounded(255),
  project: bounded(LONGEST_PROJECT_NAME).meta({ description: 'May be empty for a digest: all projects.' }),
  metric: bounded(100),
  direction: z.enum(DIRECTIONS),
  threshold: z
    .number()
    .min(-LARGEST_THRESHOLD)
    .max(LARGEST_THRESHOLD)
    .meta({ description: 'In the unit of the metric: 0.15 for 15 %, minutes for times.' }),
  windowDays: z
    .int()
    .min(1)
    .max(366)
    .meta({ description: 'The value is calculated over this many days; 30 if left out.' }),
  forDays: z
    .int()
    .min(0)
    .max(366)
    .meta({ description: 'A message is sent after the limit has been passed for this many days; 0: at once.' }),
  weekday: z.enum(WEEKDAYS),
  hour: z.int().min(0).max(23).meta({ description: 'In UTC.' }),
  target,
  enable: z.boolean(),
}
export const alertChange = z.strictObject(fields).partial()
export const alertBody = z.strictObject({ ...alertChange.shape, kind: z.enum(KINDS), name: fields.name, target }).meta(
  example({
    kind: 'digest',
    name: 'Every Monday',
    weekday: 'monday',
    hour: 8,
    target: { kind: 'slack', url: 'https://127.0.0.1/services/T0/B0/x' },
  }),
)

const text = z.string().nullable()
const number = z.number().nullable()
export const alertRecord = z
  .object({
    id: z.int(),
    name: z.string(),
    kind: z.enum(KINDS),
    enable: z.boolean(),
    project: text,
    target: z.object({ kind: z.enum(TARGETS), address: z.string(), hasSecret: z.boolean() }),
    metric: text,
    title: text,
    unit: text,
    direction: z.enum(DIRECTIONS).nullable(),
    threshold: number,
    thresholdInWords: text,
    windowDays: number,
    forDays: number,
    weekday: z.enum(WEEKDAYS).nullable(),
    hour: number,
    nextAt: timeOrNull,
    state: z.enum(STATES),
    value: number,
    inWords: text,
    brokenSince: timeOrNull,
    lookedAt: timeOrNull,
    problem: z.string().meta({ description: 'Why the last evaluation failed; empty if it succeeded.' }),
    lastMessage: z
      .object({
        kind: z.string(),
        state: z.enum(['waiting', 'sent', 'failed']),
        attempts: z.int(),
        createdAt: time,
        sentAt: timeOrNull,
        failure: z.string(),
      })
      .nullable(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Alert', description: 'A limit of a metric, or a weekly digest, and where its messages go.' })
export const alertTest = z.object({
  isTaken: z.boolean(),
  responseCode: z.int().meta({ description: '0: there was no answer.' }),
  failure: z.string(),
})
