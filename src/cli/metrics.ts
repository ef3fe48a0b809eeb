import { Command } from 'commander'
import { rangeOf } from '../api/metric-filter.ts'
import { type Measured, measure, measureOne, measureSeries } from '../control-plane/projects/measure.ts'
import { historyLack, lacksOf } from '../control-plane/projects/partial-data.ts'
import { projectFindings } from '../control-plane/projects/project-findings.ts'
import { policyOfProject } from '../control-plane/projects/project-policy.ts'
import { unknownProject } from '../control-plane/projects/unknown-project.ts'
import { runUnderWay, underWayWords } from '../control-plane/runs/run-under-way.ts'
import { selectRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { withoutHistory } from '../metrics/findings/without-history.ts'
import { fourKeys, metricNamed } from '../metrics/index.ts'
import type { Metric, MetricFilter } from '../metrics/metric.ts'
import type { Explanation, Point } from '../metrics/read/read.ts'
import { couldCount, restsOn } from '../metrics/read/rests-on.ts'
import { changeOf } from '../metrics/words/change-words.ts'
import { plugins } from '../plugins/index.ts'
import { projects } from '../system/projects.ts'
import { createRuntime, withDatabase } from './runtime.ts'
import { sparkline } from './sparkline.ts'

interface Options {
  readonly project?: string
  readonly metric?: string
  readonly json?: boolean
}

interface Reading {
  readonly project: string
  readonly metric: Metric
  readonly now: Explanation
  readonly before: Explanation
  readonly points: readonly Point[]
}

/** The number of projects that one statement reads. */
const AT_ONCE = 50

export const metrics = new Command('metrics')
  .description(
    'print the four keys, or another metric: value, what it rests on, band, values over time, and what changed',
  )
  .option('--project <name>', 'of this project only')
  .option('--metric <name>', 'this metric instead of the four keys')
  .option('--json', 'print JSON')
  .addHelpText(
    'after',
    '\nThe values are for the last six months, compared with the six months before. The small chart has one character per month.',
  )
  .action(async (options: Options) => {
    const chosen = options.metric === undefined ? fourKeys : [metricNamed(options.metric)]
    const runtime = createRuntime()
    const range = rangeOf({})
    await withDatabase(
      runtime,
      async (database) => {
        const context = { database, plugins }
        const names = await namesOf(database, options.project)
        if (options.json) {
          const readings = await readAll(context, names, chosen, range)
          console.log(JSON.stringify({ ...range, projects: await jsonOf(database, names, readings, range) }))
          return
        }
        if (names.length === 0) console.log('There are no projects yet: create one, or apply a configuration.')
        for (let first = 0; first < names.length; first += AT_ONCE) {
          const some = names.slice(first, first + AT_ONCE)
          const readings = await readAll(context, some, chosen, range)
          for (const name of some) for (const line of await linesOf(context, name, readings, range)) console.log(line)
        }
      },
      () => {},
    )
  })

async function namesOf({ kysely }: Database, wanted: string | undefined): Promise<string[]> {
  const rows = await selectRows(kysely, projects, (query) => query.orderBy('name'))
  const names = rows.map(({ name }) => name)
  if (wanted === undefined) return names
  if (!names.includes(wanted)) throw await unknownProject(kysely, wanted)
  return [wanted]
}

type Range = Pick<MetricFilter, 'from' | 'to'>
/** The range of the same length right before. */
const rangeBefore = ({ from, to }: Range): Range => ({
  from: new Date(from.getTime() - (to.getTime() - from.getTime())),
  to: new Date(from.getTime() - 1),
})

const filterOf = async (database: Database, project: string, range: Range): Promise<MetricFilter> => ({
  project,
  environment: 'PRODUCTION',
  policy: await policyOfProject(database, project),
  ...range,
})

async function readAll(
  context: Measured,
  names: readonly string[],
  chosen: readonly Metric[],
  range: Range,
): Promise<Reading[]> {
  const { database } = context
  const filters = await Promise.all(names.map((name) => filterOf(database, name, range)))
  const earlier = filters.map((filter) => ({ ...filter, ...rangeBefore(range) }))
  const readings: Reading[] = []
  for (const metric of chosen) {
    const now = await measure(context, metric, filters)
    const before = await measure(context, metric, earlier)
    const series = await measureSeries(context, metric, filters, 'month', now)
    for (const [place, project] of names.entries()) {
      const [own, past] = [now[place], before[place]]
      if (own && past) readings.push({ project, metric, now: own, before: past, points: series[place] ?? [] })
    }
  }
  return readings
}

async function jsonOf(database: Database, names: readonly string[], readings: readonly Reading[], range: Range) {
  const all: object[] = []
  for (const project of names) {
    const filter = await filterOf(database, project, range)
    const own = readings.filter((each) => each.project === project)
    const metrics = own.map(({ metric, now: { leftOut, ...now }, before, points }) => ({
      metric: metric.name,
      title: metric.title,
      unit: metric.unit,
      better: metric.better,
      ...now,
      restsOn: restsOn(metric, filter, { ...now, leftOut }),
      before: before.value,
      change: changeOf(metric, before, now),
      points,
    }))
    all.push({ project, metrics, partial: await lacksOf({ database }, project) })
  }
  return all
}

const bandOf = ({ grades, noGrade }: Explanation) => grades.at(-1)?.band ?? (noGrade ? 'no grade' : '')

async function linesOf(
  context: Measured,
  project: string,
  readings: readonly Reading[],
  range: Range,
): Promise<string[]> {
  const { database } = context
  const own = readings.filter((each) => each.project === project)
  const filter = await filterOf(database, project, range)
  const lacks = await lacksOf({ database }, project)
  const histories = await withoutHistory(database, project)
  const basis = own.map(({ metric, now }) => restsOn(metric, filter, now))
  const underWay = await runUnderWay(database.kysely, project)
  const rows = own.map(({ metric, now, before, points }, place) => [
    metric.title,
    now.value === null ? `no data, because ${now.noData?.because ?? 'nothing counts'}` : withBasis(now, basis[place]),
    bandOf(now),
    // A line of zeros would look like a trend.
    now.counted === 0 ? '' : sparkline(points.map(({ value }) => value)),
    changeOf(metric, before, now).words,
  ])
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const what = own.length > 1 ? 'The four keys' : own[0]?.metric.title
  const lines = [`${what} of ${project} since ${range.from.toISOString().slice(0, 10)}:`]
  if (underWay !== undefined) lines.push(`    ${underWayWords(underWay)}`)
  const printedReasons = new Set<string>()
  for (const [place, row] of rows.entries()) {
    lines.push(`    ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    const { metric, now } = own[place] as Reading
    const reasons = now.noGrade ? [`no grade: ${now.noGrade.because}. ${now.noGrade.remedy}`] : []
    if (histories.length > 0 && metric.madeOf.includes('history') && now.counted > 0) {
      const share = await shareWithoutHistory(context, metric, filter)
      reasons.push(`${metric.title} of ${basis[place]}: ${historyLack(histories)}${share}.`)
    }
    if (now.counted === 0 && underWay === undefined) {
      const findings = await projectFindings(database, metric, filter)
      reasons.push(...findings.map(({ seen, remedy }) => `${seen} ${remedy}`))
    }
    for (const reason of reasons.filter((each) => !printedReasons.has(each))) {
      lines.push(`        ${reason}`)
      printedReasons.add(reason)
    }
  }
  const isSaid = own.some(({ metric, now }) => metric.madeOf.includes('history') && now.counted > 0)
  const rest = lacks.filter(({ kind }) => kind !== 'history' || !isSaid)
  if (rest.length > 0) lines.push('    Partial data:')
  for (const { seen, remedy } of rest) lines.push(`        ${seen} ${remedy}`)
  return lines
}

/**
 * Says how many are left out for lack of git history, as the explanation counts them, because others may be left out for other
 * reasons. Empty if that holds for all of them, or for none.
 */
async function shareWithoutHistory(context: Measured, metric: Metric, filter: MetricFilter): Promise<string> {
  const explained = await measureOne(context, metric, filter, true)
  const all = couldCount(explained)
  const own = explained.leftOut.find(({ reason }) => reason === 'no_git_history')?.count ?? 0
  return own === 0 || own === all
    ? ''
    : `, which leaves out ${own.toLocaleString('en')} of the other ${all.toLocaleString('en')}`
}

/** If the median week has no deployment, the words already say how many there were. */
const withBasis = ({ inWords, frequency }: Explanation, basis = ''): string =>
  basis === '' || frequency?.weekly === 0 ? inWords : `${inWords}, ${basis}`

/** The four keys of a project, for the end of a run. */
export async function fourKeyLines(context: Measured, project: string): Promise<string[]> {
  const range = rangeOf({})
  return linesOf(context, project, await readAll(context, [project], fourKeys, range), range)
}
