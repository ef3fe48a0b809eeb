/** Explains a key by the few things behind it that weigh most. */
import { sql } from 'kysely'
import { counted } from '../basics/counted.ts'
import type { Database } from '../database/database.ts'
import { among, onePiece } from '../database/pieces.ts'
import { blameOf } from '../metrics/blame.ts'
import { changeFailureRate } from '../metrics/definitions/change-failure-rate.ts'
import { changeLeadTime } from '../metrics/definitions/change-lead-time.ts'
import { deploymentFrequency } from '../metrics/definitions/deployment-frequency.ts'
import { pullRequestCodingTime } from '../metrics/definitions/pull-request-coding-time.ts'
import { pullRequestDeployTime } from '../metrics/definitions/pull-request-deploy-time.ts'
import { pullRequestPickupTime } from '../metrics/definitions/pull-request-pickup-time.ts'
import { pullRequestReviewTime } from '../metrics/definitions/pull-request-review-time.ts'
import { recoveryTime } from '../metrics/definitions/recovery-time.ts'
import type { Item, Metric, MetricFilter } from '../metrics/metric.ts'
import { readMetric } from '../metrics/read/read.ts'
import { readItems } from '../metrics/read/read-items.ts'
import { valueInWords } from '../metrics/words/value-words.ts'

const MOST_ITEMS = 1000
const MOST_NAMED = 3
const LONGEST_TITLE = 100
const STAGES = [
  { name: 'coding', metric: pullRequestCodingTime },
  { name: 'waiting for review', metric: pullRequestPickupTime },
  { name: 'review', metric: pullRequestReviewTime },
  { name: 'deployment', metric: pullRequestDeployTime },
]

interface Periods {
  readonly now: MetricFilter
  readonly before: MetricFilter
}
type Explain = (database: Database, metric: Metric, periods: Periods) => Promise<string[]>

const quoted = (title: string | null, id: string) => `“${(title || id).slice(0, LONGEST_TITLE)}”`
const countOf = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`

/** The items that count, the largest value first. */
async function largest(database: Database, metric: Metric, filter: MetricFilter): Promise<Item[]> {
  const items = await readItems(database, metric, filter, { reason: 'counted', limit: MOST_ITEMS, offset: 0 })
  return items.toSorted((one, other) => (other.value ?? 0) - (one.value ?? 0))
}

const EXPLAIN = new Map<string, Explain>([
  [
    deploymentFrequency.name,
    async (database, metric, { now, before }) => {
      const [own, past] = [await readMetric(database, metric, now), await readMetric(database, metric, before)]
      return [`${countOf(own.counted, 'deployment')}, ${past.counted} in the week before`]
    },
  ],
  [
    changeLeadTime.name,
    async (database, metric, { now, before }) => {
      const [slowest] = await largest(database, metric, now)
      const change = slowest
        ? [`slowest change: ${quoted(slowest.title, slowest.id)}, ${valueInWords(metric.unit, slowest.value)}`]
        : []
      return [...(await longestStage(database, { now, before })), ...change]
    },
  ],
  [
    changeFailureRate.name,
    async (database, metric, { now }) => {
      const failed = (await largest(database, metric, now)).filter(({ value }) => (value ?? 0) > 0)
      if (failed.length === 0) return []
      const incidents = await incidentsOf(database, now, failed.slice(0, MOST_NAMED))
      const more =
        failed.length > MOST_NAMED
          ? [`and ${counted(failed.length - MOST_NAMED, 'more deployment')} with incidents`]
          : []
      return [...incidents, ...more]
    },
  ],
  [
    recoveryTime.name,
    async (database, metric, { now }) => {
      const items = await largest(database, metric, now)
      return items.slice(0, MOST_NAMED).map(({ title, id, value }, place) => {
        const words = `${quoted(title, id)}, ${valueInWords(metric.unit, value)}`
        return place === 0 ? `longest: ${words}` : words
      })
    },
  ],
])

async function longestStage(database: Database, { now, before }: Periods): Promise<string[]> {
  const stages = []
  for (const { name, metric } of STAGES) {
    const [own, past] = [await readMetric(database, metric, now), await readMetric(database, metric, before)]
    if (own.value !== null) stages.push({ name, unit: metric.unit, value: own.value, past: past.value })
  }
  const [longest] = stages.sort((one, other) => other.value - one.value)
  if (!longest) return []
  const { name, unit, value, past } = longest
  const earlier = past === null ? '' : ` (${valueInWords(unit, past)} in the week before)`
  return [`longest stage: ${name}, ${valueInWords(unit, value)}${earlier}`]
}

/** For each deployment, the incidents that are attributed to it. */
async function incidentsOf(database: Database, filter: MetricFilter, failed: readonly Item[]): Promise<string[]> {
  const blame = blameOf({ ...filter, dialect: database.dialect })
  const { rows } = await sql<{ title: string | null; incident_id: string; deployment_id: string }>`
    select i.title, b.incident_id, b.deployment_id from (${blame}) b inner join incidents i on i.id = b.incident_id
    where ${among(sql`b.deployment_id`, onePiece(failed.map(({ id }) => id)))}
    order by i.created_date, i.id limit ${sql.lit(MOST_ITEMS)}`.execute(database.kysely)
  const byDeployment = Map.groupBy(rows, ({ deployment_id }) => deployment_id)
  return failed.flatMap(({ id, title }) => {
    const own = byDeployment.get(id) ?? []
    const [first] = own
    if (!first) return []
    const more = own.length > 1 ? ` and ${own.length - 1} more` : ''
    return [`incident ${quoted(first.title, first.incident_id)}${more} after deployment ${quoted(title, id)}`]
  })
}

/** Short clauses, the most informative first. */
export const reasonsOf: Explain = async (database, metric, periods) =>
  (await EXPLAIN.get(metric.name)?.(database, metric, periods)) ?? []
