/** Answers as any project might have them: without data, with one deployment, with a thousand a day, with stages that are not known. */
import fc from 'fast-check'
import type {
  Answer,
  Change,
  HeavyItem,
  HowSure,
  KeyAnswer,
  Measured,
  StageAnswer,
  WhatToLookAt,
} from '../../src/metrics/answer/answer.ts'
import { STAGES } from '../../src/metrics/answer/answer.ts'
import { NO_DEPLOYMENT_IN_RANGE, NONE_HAPPENED, nothingCounts } from '../../src/metrics/findings/no-data.ts'
import { deploymentsIn, INCIDENTS_UNKNOWN } from '../../src/metrics/grades/evidence.ts'
import { metricNamed } from '../../src/metrics/index.ts'
import type { Metric } from '../../src/metrics/metric.ts'
import { NO_CATEGORY_FIELD } from '../../src/metrics/service/service-incidents.ts'
import { valueInWords } from '../../src/metrics/words/value-words.ts'

export type Parts = Pick<Answer, 'keys' | 'where' | 'look' | 'sure'>

const KEYS = [
  ['change-lead-time', 'throughput'],
  ['deployment-frequency', 'throughput'],
  ['failed-deployment-recovery-time', 'throughput'],
  ['change-failure-rate', 'instability'],
  ['rework-rate', 'instability'],
] as const

const minutes = fc.oneof(
  fc.constantFrom(0, 1, 59.6, 60, 1439.8, 1440),
  fc.double({ min: 0, max: 90, noNaN: true }),
  fc.double({ min: 60, max: 400_000, noNaN: true }),
)
const amounts = fc.oneof(
  fc.constantFrom(1, 2, 3),
  fc.integer({ min: 1, max: 200 }),
  fc.integer({ min: 1, max: 182_000 }),
)
const some = <Value>(value: fc.Arbitrary<Value>, freq = 4) => fc.option(value, { freq, nil: null })

const whyNot = (metric: Metric, total: number) =>
  fc.constantFrom(
    nothingCounts(metric, 0, []),
    nothingCounts(metric, total, [{ reason: 'not_resolved', meaning: '', count: total }]),
    nothingCounts(metric, total + 5, [{ reason: 'merge_commit_in_no_deployment', meaning: '', count: total }]),
    INCIDENTS_UNKNOWN,
    NONE_HAPPENED,
    NO_DEPLOYMENT_IN_RANGE,
    NO_CATEGORY_FIELD,
  )

function measured(metric: Metric): fc.Arbitrary<Measured> {
  const known = amounts.chain((counted) => {
    const value =
      metric.unit === 'minutes'
        ? minutes
        : metric.unit === 'share'
          ? fc.integer({ min: 0, max: counted }).map((part) => part / counted)
          : fc.integer({ min: 0, max: 7 })
    return value.map((each) => ({
      value: each,
      inWords:
        each === 0 && metric.unit === 'days per week' ? deploymentsIn(counted, 26) : valueInWords(metric.unit, each),
      counted,
      total: counted,
      likely: null,
    }))
  })
  const unknown = amounts.chain((total) =>
    whyNot(metric, total).map((noData) => ({
      value: null,
      inWords: 'no value',
      counted: 0,
      total,
      likely: null,
      noData,
    })),
  )
  return fc.oneof({ weight: 5, arbitrary: known }, { weight: 1, arbitrary: unknown })
}

function changeBetween(metric: Metric, now: Measured, before: Measured, isChance: boolean): Change | null {
  if (now.value === null || before.value === null) return null
  const amount = now.value - before.value
  // Two medians of 0 days are compared by their deployments.
  const difference = amount === 0 && metric.unit === 'days per week' ? now.counted - before.counted : amount
  const mayBeChance = isChance || difference === 0
  const isBetter = difference > 0 === (metric.better === 'higher')
  return {
    amount,
    inWords: '',
    likely: null,
    mayBeChance,
    direction: mayBeChance ? 'none' : isBetter ? 'better' : 'worse',
  }
}

const target = some(fc.record({ isSet: fc.boolean(), value: fc.double({ min: 0.1, max: 10, noNaN: true }) }), 2)

const keyAnswer = (name: string, group: KeyAnswer['group']): fc.Arbitrary<KeyAnswer> => {
  const metric = metricNamed(name)
  return fc
    .record({
      now: measured(metric),
      before: measured(metric),
      isChance: fc.boolean(),
      target,
      isReport: fc.integer({ min: 0, max: 9 }),
    })
    .map(({ now, before, isChance, target: wanted, isReport }) => ({
      metric: name,
      title: metric.title,
      definition: metric.definition,
      group,
      unit: metric.unit,
      better: metric.better,
      now,
      before,
      restsOn: '',
      // A project may count its failures as the service report does, whose share divides two kinds of items.
      against: metric.unit === 'share' && isReport > 0 ? Math.round((now.value ?? 0) * now.counted) : null,
      change: changeBetween(metric, now, before, isChance),
      target: wanted && {
        value: wanted.value,
        inWords: valueInWords(metric.unit, wanted.value),
        state:
          now.value === null ? 'unknown' : now.value > wanted.value === (metric.better === 'higher') ? 'met' : 'missed',
        distance: now.value === null ? null : now.value - wanted.value,
        distanceInWords: null,
        inheritedFrom: null,
        setBy: 'someone',
        setAt: new Date(0),
      },
      trend: [],
      trendBefore: [],
      grades: [],
      items: `/v1/metrics/${name}/items?project=shop`,
    }))
}

const stages = (lead: KeyAnswer): fc.Arbitrary<StageAnswer[]> =>
  fc
    .tuple(
      ...STAGES.map(() =>
        fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 7 })),
      ),
    )
    .map((weights) => {
      const [sum, sumBefore] = [0, 1].map((place) => weights.reduce((all, each) => all + (each[place] ?? 0), 0)) as [
        number,
        number,
      ]
      return STAGES.map((stage, place) => {
        const [weight, weightBefore, isUnknown] = weights[place] as [number, number, number]
        const share = lead.now.value === null || isUnknown === 0 || sum === 0 ? null : weight / sum
        const shareBefore =
          lead.before.value === null || isUnknown === 1 || sumBefore === 0 ? null : weightBefore / sumBefore
        const now = share === null ? null : share * (lead.now.value ?? 0)
        const before = shareBefore === null ? null : shareBefore * (lead.before.value ?? 0)
        const change = now === null || before === null ? null : now - before
        const whole = lead.change?.amount ?? 0
        return {
          stage,
          title: `${stage.charAt(0).toUpperCase()}${stage.slice(1)}`,
          meaning: '',
          isWaiting: stage === 'pickup' || stage === 'deploy',
          now,
          before,
          share,
          shareBefore,
          change,
          explains: change === null || whole === 0 ? null : change / whole,
        }
      })
    })

const heavy = (metric: string): fc.Arbitrary<WhatToLookAt> =>
  fc
    .record({
      stages: fc.array(some(fc.constantFrom(...STAGES)), { maxLength: 10 }),
      more: fc.integer({ min: 0, max: 500 }),
      share: some(fc.double({ min: 0, max: 1, noNaN: true }), 2),
      without: some(minutes, 1),
    })
    .map(({ stages: longest, more, share, without }) => ({
      metric,
      heaviest: longest.map(
        (longestStage, place): HeavyItem => ({
          kind: metric === 'change-lead-time' ? 'pull_request' : 'incident',
          id: `${place}`,
          title: '',
          url: null,
          repository: null,
          at: null,
          value: 1,
          inWords: '',
          size: null,
          stages: [],
          longestStage: metric === 'change-lead-time' ? longestStage : null,
          why: null,
        }),
      ),
      share,
      without,
      withoutInWords: without === null ? null : valueInWords('minutes', without),
      of: longest.length + more,
    }))

const sure: fc.Arbitrary<HowSure> = fc
  .record({
    counted: fc.array(
      fc.record({
        material: fc.constantFrom('pull requests', 'deployments', 'incidents'),
        counted: fc.integer({ min: 0, max: 3000 }),
        more: fc.integer({ min: 0, max: 3 }),
      }),
      { maxLength: 3 },
    ),
    gaps: fc.integer({ min: 0, max: 15 }),
  })
  .map(({ counted, gaps }) => ({
    confidence: 'high',
    because: '',
    counted: counted.map(({ material, counted: own, more }) => ({
      material,
      counted: own,
      total: own + more,
      leftOut: [],
    })),
    gaps: Array.from({ length: gaps }, () => ({ from: new Date(0), to: new Date(0), what: '', why: '' })),
    rules: [],
    collectedAt: null,
  }))

export const answers: fc.Arbitrary<Parts> = fc
  .tuple(...KEYS.map(([name, group]) => keyAnswer(name, group)))
  .chain((keys) => {
    const lead = keys[0] as KeyAnswer
    return fc.record({
      keys: fc.constant(keys),
      where: stages(lead).map((all) => ({
        stages: all,
        restsOn: 20,
        restsOnBefore: 20,
        ...(lead.now.noData && { noData: lead.now.noData }),
      })),
      look: fc.tuple(heavy('change-lead-time'), heavy('failed-deployment-recovery-time')),
      sure,
    })
  })
