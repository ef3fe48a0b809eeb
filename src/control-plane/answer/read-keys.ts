/** Reads the five keys of a range and of the period before it, each metric with one statement for both. */
import type { Period } from '../../metrics/answer/answer.ts'
import { during } from '../../metrics/answer/calendar.ts'
import { KEYS, type KeyRead, type PeriodRead } from '../../metrics/answer/keys.ts'
import { type Counted, readCounted } from '../../metrics/answer/read-counted.ts'
import { explainedBy } from '../../metrics/answer/value-of.ts'
import type { Evidence } from '../../metrics/grades/evidence.ts'
import { graded, readEvidence } from '../../metrics/grades/read-grades.ts'
import type { Metric } from '../../metrics/metric.ts'
import { inParts } from '../../metrics/parts.ts'
import { type Explanation, NO_VALUE, readMetrics } from '../../metrics/read/read.ts'
import { type Asked, asWhole, metricOf } from '../../metrics/whole.ts'
import { type Measured, settled } from '../projects/measure.ts'

export async function readKeys(context: Measured, filter: Asked, before: Period): Promise<KeyRead[]> {
  const reads = await Promise.all(KEYS.map(({ metric, group }) => readKey(context, metric, group, filter, before)))
  const isGradable = reads.some(({ metric, now }) => metric.benchmark && now.explained.value !== null)
  const [evidence] = isGradable ? await readEvidence(context.database, [asWhole(filter)]) : []
  return evidence ? reads.map((read) => withGrades(read, evidence)) : reads
}

function withGrades(read: KeyRead, evidence: Evidence): KeyRead {
  const { metric, now } = read
  if (!metric.benchmark || now.explained.value === null) return read
  return { ...read, now: { ...now, explained: { ...now.explained, ...graded(metric, evidence, now.explained) } } }
}

const NOTHING: Counted = { items: [], open: [], leftOut: new Map() }

async function readKey(
  context: Measured,
  metric: Metric,
  group: KeyRead['group'],
  filter: Asked,
  before: Period,
): Promise<KeyRead> {
  const { database } = context
  const filters = [filter, during(filter, before)]
  const read = await inParts(
    database,
    metric,
    filters,
    async (own, some) => {
      const counted = await readCounted(database, own, some)
      return counted.map((each, place) => ({
        counted: each,
        explained: explainedBy(own, some[place] as Asked, each),
      }))
    },
    (_, noData) => ({ counted: NOTHING, explained: { ...UNREADABLE, noData } }),
  )
  const exact = await withFinerReasons(
    context,
    metric,
    filters,
    read.map(({ explained }) => explained),
  )
  const values = await settled(context, metric, filters, exact)
  const [now, past] = read.map(({ counted }, place): PeriodRead => {
    const { from, to } = filters[place] as Asked
    return { range: { from, to }, counted, explained: values[place] as Explanation }
  })
  return { metric: metricOf(metric, filter), group, now: now as PeriodRead, before: past as PeriodRead }
}

const UNREADABLE: Explanation = {
  ...NO_VALUE,
  counted: 0,
  total: 0,
  leftOut: [],
  grades: [],
}

/** Where nothing counts, the reason matters most. */
async function withFinerReasons(
  { database }: Measured,
  metric: Metric,
  filters: readonly Asked[],
  read: readonly Explanation[],
): Promise<Explanation[]> {
  if (!metric.hasFinerReasons) return [...read]
  return Promise.all(
    read.map(async (each, place) => {
      const filter = filters[place]
      if (each.value !== null || each.total === 0 || !filter) return each
      return (await readMetrics(database, metric, [filter], true))[0] ?? each
    }),
  )
}
