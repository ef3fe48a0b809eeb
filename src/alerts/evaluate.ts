/** Checks whether a number has been beyond its limit for as long as an alert says, and decides what to report. */
import { randomUUID } from 'node:crypto'
import { counted } from '../basics/counted.ts'
import { policyOfProject } from '../control-plane/projects/project-policy.ts'
import { selectRows, updateRows } from '../control-plane/store.ts'
import { retrying } from '../database/write.ts'
import { messageOf, UserError } from '../errors.ts'
import type { Metric } from '../metrics/metric.ts'
import { readMetrics } from '../metrics/read/read.ts'
import { valueInWords } from '../metrics/words/value-words.ts'
import { alerts } from '../system/alerts.ts'
import { pipelines } from '../system/pipelines.ts'
import { blueprints } from '../system/projects.ts'
import type { FollowContext } from './alert-service.ts'
import { linkToNumber } from './links.ts'
import { type AlertRow, metricOf } from './records.ts'
import { type Message, storeMessage } from './send.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** The most looks into the past, evenly spread: daily for two weeks, further apart for longer. */
const MOST_LOOKS = 14

/** The ends of the windows to look at, the present first. */
export function momentsOf(now: Date, forDays: number): Date[] {
  const looks = Math.min(forDays, MOST_LOOKS)
  const interval = looks === 0 ? 0 : (forDays * DAY_MS) / looks
  return Array.from({ length: looks + 1 }, (_, index) => new Date(now.getTime() - index * interval))
}

interface Finding {
  readonly state: 'fine' | 'pending' | 'broken' | 'no data'
  readonly value: number | null
  readonly brokenSince: Date | null
  /** The news to report, if any. */
  readonly news: 'broken' | 'recovered' | null
}

/** A window without a value neither breaks an alert nor lets it recover. */
export function judge(
  { direction, threshold, is_told }: Pick<AlertRow, 'direction' | 'threshold' | 'is_told'>,
  moments: readonly Date[],
  values: readonly (number | null)[],
): Finding {
  const isBeyond = (value: number | null) =>
    value !== null && (direction === 'above' ? value > threshold : value < threshold)
  const [value = null] = values
  if (value === null) return { state: 'no data', value, brokenSince: null, news: null }
  const firstFine = values.findIndex((each) => !isBeyond(each))
  if (firstFine === 0) return { state: 'fine', value, brokenSince: null, news: is_told ? 'recovered' : null }
  const brokenSince = moments[(firstFine < 0 ? moments.length : firstFine) - 1] ?? null
  const isLong = firstFine < 0
  return {
    state: isLong || is_told ? 'broken' : 'pending',
    value,
    brokenSince,
    news: isLong && !is_told ? 'broken' : null,
  }
}

export async function evaluate(context: FollowContext, row: AlertRow, now: Date): Promise<Finding | undefined> {
  const { database } = context
  const metric = metricOf(row)
  if (!metric) throw new UserError(`There is no metric ${row.metric} any more: choose another.`)
  const project = row.project_name
  const shared = { project, environment: 'PRODUCTION', policy: await policyOfProject(database, project) }
  const moments = momentsOf(now, row.for_days)
  const filters = moments.map((to) => ({ ...shared, from: new Date(to.getTime() - row.window_days * DAY_MS), to }))
  const read = await readMetrics(database, metric, filters)
  const values = read.map(({ value }) => value)
  const inWords = read[0]?.inWords ?? valueInWords(metric.unit, null)
  const finding = judge(row, moments, values)
  const isDecided = await retrying(database, () =>
    database.transaction(async ({ kysely: inside }) => {
      const seen = { id: row.id, version: row.version }
      const newState = finding.news === null ? {} : { is_told: finding.news === 'broken' }
      const changed = await updateRows(inside, alerts, seen, {
        state: finding.state,
        value: finding.value,
        value_words: inWords,
        broken_since: finding.brokenSince,
        problem: '',
        looked_at: now,
        version: row.version + 1,
        ...newState,
      })
      // Another server was first, or somebody has changed the alert.
      if (changed !== 1) return false
      if (finding.news) {
        const { from, to } = filters[0] ?? { from: now, to: now }
        const link = linkToNumber(context.publicUrl, { project, metric: metric.name, from, to })
        await storeMessage(
          inside,
          row.id,
          finding.news,
          messageFor(row, metric, { ...finding, inWords, link }, now),
          now,
        )
      }
      return true
    }),
  )
  return isDecided ? finding : undefined
}

function messageFor(
  row: AlertRow,
  metric: Metric,
  { news, value, inWords, brokenSince, link }: Finding & { readonly inWords: string; readonly link: string },
  now: Date,
): Message {
  const is = `${row.project_name}: ${metric.title} is ${inWords} over the last ${counted(row.window_days, 'day')}`
  const limit = `${row.direction} ${valueInWords(metric.unit, row.threshold)}`
  const long = row.for_days === 0 ? '' : ` for ${counted(row.for_days, 'day')}`
  const text = news === 'broken' ? `${is}, ${limit}${long}.` : `${is}, no longer ${limit}.`
  return {
    id: randomUUID(),
    type: `alert.${news}` as 'alert.broken',
    text,
    at: now,
    alert: { id: row.id, name: row.name },
    project: row.project_name,
    metric: metric.name,
    title: metric.title,
    unit: metric.unit,
    value,
    direction: row.direction,
    threshold: row.threshold,
    windowDays: row.window_days,
    forDays: row.for_days,
    brokenSince,
    link,
  }
}

/** Evaluates alerts that nobody has looked at for an hour, and those whose project has run since. */
export async function evaluateDue(context: FollowContext, now = new Date()): Promise<void> {
  const { kysely } = context.database
  const rows = await selectRows(kysely, alerts, (query) =>
    query.where('kind', '=', 'threshold').where('enable', '=', true).orderBy('id'),
  )
  const oldest = rows.reduce<Date | null>(
    (first, { looked_at: at }) => (at && (!first || at < first) ? at : first),
    null,
  )
  const runs = oldest
    ? await kysely
        .selectFrom(`${pipelines.name} as p`)
        .innerJoin(`${blueprints.name} as b`, 'b.id', 'p.blueprint_id')
        .where('p.finished_at', '>', oldest)
        .groupBy('b.project_name')
        .select((builder) => ['b.project_name as project', builder.fn.max('p.finished_at').as('at')])
        .execute()
    : []
  const ranAt = new Map(runs.map(({ project, at }) => [project, at as Date]))
  const isDue = ({ looked_at: at, project_name }: AlertRow) =>
    !at || now.getTime() - at.getTime() >= HOUR_MS || (ranAt.get(project_name) ?? at) > at
  for (const row of rows.filter(isDue)) await tryEvaluate(context, row, now)
}

/** Trouble with one alert must not stop the others. */
async function tryEvaluate(context: FollowContext, row: AlertRow, now: Date): Promise<void> {
  try {
    await evaluate(context, row, now)
  } catch (error) {
    const known = context.database.explain(error) ?? error
    context.log.warn({ alert: row.id }, `an alert could not be evaluated: ${messageOf(known)}`)
    const problem = known instanceof UserError ? messageOf(known) : 'It could not be evaluated; the log says why.'
    const seen = { id: row.id, version: row.version }
    await updateRows(context.database.kysely, alerts, seen, { problem, looked_at: now, version: row.version + 1 })
  }
}
