/** The stable contract of the answer: additive within /v1. */
import { z } from 'zod'
import { STAGES } from '../../metrics/answer/answer.ts'
import { cause } from './cause.ts'
import { grade, likelyRange, noData, noGrade, plainQuery, whose } from './metrics.ts'

export const answerQuery = plainQuery.omit({ reading: true, issueCategory: true, component: true })

const period = z.object({ from: z.date(), to: z.date() })
const share = z.number().nullable()
const minutes = z.number().nullable().meta({ description: 'Minutes.' })
const stage = z.enum(STAGES)
const bucket = z.enum(['day', 'week', 'month'])
const isPartial = z.boolean().meta({ description: 'The bucket reaches beyond the range, or is not over yet.' })

const measured = z
  .object({
    value: z.number().nullable(),
    inWords: z.string(),
    counted: z.int(),
    total: z.int(),
    likely: likelyRange.nullable().meta({ description: 'Null where there is no value, or too little to say.' }),
    noData: noData.optional(),
  })
  .meta({ id: 'MeasuredValue' })
const change = z
  .object({
    amount: z.number().meta({ description: 'Now minus before, in the unit of the metric.' }),
    inWords: z.string(),
    likely: likelyRange.nullable(),
    mayBeChance: z.boolean().meta({ description: 'The likely range holds 0, or there is too little to say.' }),
    direction: z.enum(['better', 'worse', 'none']).meta({ description: '`none` where it may be chance.' }),
  })
  .meta({ id: 'Change' })
const target = z
  .object({
    value: z.number(),
    inWords: z.string(),
    state: z.enum(['met', 'missed', 'unknown']).meta({ description: '`unknown` where there is no value.' }),
    distance: z.number().nullable(),
    distanceInWords: z.string().nullable(),
    inheritedFrom: z.string().nullable(),
    setBy: z.string(),
    setAt: z.date(),
  })
  .meta({ id: 'TargetAnswer' })
const points = z.array(
  z.object({ start: z.date(), value: z.number().nullable(), counted: z.int(), isPartial: z.boolean() }),
)
const key = z
  .object({
    metric: z.string(),
    title: z.string(),
    definition: z.string(),
    group: z.enum(['throughput', 'instability']),
    unit: z.string(),
    better: z.enum(['higher', 'lower']),
    now: measured,
    before: measured,
    restsOn: z
      .string()
      .meta({ description: 'How many items count, and of how many that could: `50 of 168 pull requests`.' }),
    against: z.int().nullable().meta({
      description: 'Of a share: how many items count against it, such as deployments that led to an incident.',
    }),
    change: change.nullable().meta({ description: 'Null where one of the two periods has no value.' }),
    target: target.nullable(),
    trend: points,
    trendBefore: points,
    grades: z.array(grade),
    noGrade: noGrade.optional(),
    items: z.string().meta({ description: 'Where its items are, as an address of `/v1`.' }),
  })
  .meta({ id: 'KeyAnswer', description: 'One of the five keys: now, before, and what changed.' })

const when = z
  .object({
    bucket,
    buckets: z.array(
      z.object({
        start: z.date(),
        isPartial,
        leadTime: z
          .object({ median: z.number(), low: z.number(), high: z.number(), counted: z.int() })
          .nullable()
          .meta({ description: 'Minutes: the median, and between what half of the changes lie.' }),
        deployments: z.int(),
        failed: z.int().meta({ description: 'Of the deployments: those that led to an incident.' }),
        reworked: z.int().meta({ description: 'Of the deployments: those that repaired something.' }),
        incidents: z.int(),
      }),
    ),
    deployments: z.array(z.object({ id: z.string(), at: z.date(), isFailed: z.boolean(), isRework: z.boolean() })),
    incidents: z.array(
      z.object({
        id: z.string(),
        at: z.date().meta({ description: 'The finish of the deployment that it is attributed to.' }),
        until: z.date().nullable().meta({ description: 'Null where it is not resolved.' }),
      }),
    ),
    isShortened: z.boolean().meta({ description: 'There are more deployments or incidents than these, the newest.' }),
  })
  .meta({ id: 'WhenAnswer', description: 'Lead times, deployments and incidents on one axis of time.' })

const where = z
  .object({
    stages: z.array(
      z.object({
        stage,
        title: z.string(),
        meaning: z.string(),
        isWaiting: z.boolean(),
        now: minutes,
        before: minutes,
        share,
        shareBefore: share,
        change: minutes,
        explains: share.meta({ description: 'The part of the change of the whole that this stage explains.' }),
      }),
    ),
    restsOn: z.int().meta({ description: 'How many changes nearest the median the stages are the mean of.' }),
    restsOnBefore: z.int(),
    noData: noData.optional(),
  })
  .meta({ id: 'WhereTimeGoes', description: 'The stages of the lead time, which add up to it.' })

const heavy = z
  .object({
    kind: z.enum(['pull_request', 'deployment', 'incident', 'gap']),
    id: z.string(),
    title: z.string(),
    url: z.string().nullable(),
    repository: z.string().nullable(),
    at: z.date().nullable(),
    until: z.date().nullable().optional().meta({ description: 'Of a gap.' }),
    value: z.number().nullable().meta({ description: 'In the unit of the metric; of a gap, minutes.' }),
    inWords: z.string(),
    size: z.number().nullable().meta({ description: 'Lines added and removed.' }),
    stages: z.array(z.object({ stage, minutes })),
    longestStage: stage.nullable(),
    why: z.string().nullable(),
  })
  .meta({ id: 'HeavyItem' })
const look = z.object({
  metric: z.string(),
  heaviest: z.array(heavy),
  without: z.number().nullable().meta({ description: 'The value if the heaviest items had not been.' }),
  withoutInWords: z.string().nullable(),
  share: share.meta({ description: 'The part of the sum of all values that the heaviest items hold.' }),
  of: z.int().meta({ description: 'How many items there are in all.' }),
})

const sentence = z
  .array(z.union([z.string(), z.object({ figure: z.string(), metric: z.string(), items: z.string() })]))
  .readonly()
  .meta({ id: 'Sentence', description: 'Words, and figures with the address of their items.' })
const sure = z
  .object({
    confidence: z.enum(['high', 'medium', 'low', 'none']),
    because: z.string(),
    counted: z.array(
      z.object({
        material: z.string(),
        counted: z.int(),
        total: z.int(),
        leftOut: z.array(
          z.object({
            reason: z.string(),
            meaning: z.string(),
            count: z.int(),
            remedy: z.string(),
            page: z.string().nullable(),
          }),
        ),
      }),
    ),
    gaps: z.array(z.object({ from: z.date(), to: z.date(), what: z.string(), why: z.string() })),
    rules: z.array(z.object({ rule: z.string(), value: z.string(), page: z.string().nullable() })),
    collectedAt: z.date().nullable(),
  })
  .meta({ id: 'HowSure' })

export const answerRecord = z
  .object({
    whose,
    environment: z.string(),
    range: period,
    before: period.meta({ description: 'The period of the same length right before the range.' }),
    projects: z.int(),
    sentence: z.array(sentence),
    keys: z.array(key),
    when,
    where,
    look: z.array(look),
    attention: z.array(cause),
    sure,
    findings: z.object({ keys: sentence, where: sentence, look: sentence, sure: sentence }),
  })
  .meta({ id: 'Answer', description: 'How are we doing, why, what to look at, and how sure is that.' })
