/** The weekly message: the four keys, what changed, and why. */
import { randomUUID } from 'node:crypto'
import { counted } from '../basics/counted.ts'
import { nextTick } from '../control-plane/blueprints/cron.ts'
import { policyOfProject } from '../control-plane/projects/project-policy.ts'
import { selectRows, updateRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { retrying } from '../database/write.ts'
import { messageOf } from '../errors.ts'
import { INCIDENTS_UNKNOWN } from '../metrics/grades/evidence.ts'
import { projectsKnowingIncidents } from '../metrics/grades/read-grades.ts'
import { fourKeys } from '../metrics/index.ts'
import type { MetricFilter } from '../metrics/metric.ts'
import { readMetric } from '../metrics/read/read.ts'
import { changeOf } from '../metrics/words/change-words.ts'
import { alerts } from '../system/alerts.ts'
import { projects } from '../system/projects.ts'
import type { FollowContext } from './alert-service.ts'
import { linkToKeys } from './links.ts'
import { reasonsOf } from './reasons.ts'
import { type AlertRow, cronOf } from './records.ts'
import { type Message, storeMessage } from './send.ts'

const WEEK_MS = 7 * 86_400_000
/** Nobody would read about more projects than these. */
const MOST_PROJECTS = 20

const dayOf = (date: Date) => date.toISOString().slice(0, 10)

async function keysOf(database: Database, project: string, to: Date) {
  const shared = { project, environment: 'PRODUCTION', policy: await policyOfProject(database, project) }
  const middle = new Date(to.getTime() - WEEK_MS)
  const now: MetricFilter = { ...shared, from: middle, to }
  const before: MetricFilter = {
    ...shared,
    from: new Date(middle.getTime() - WEEK_MS),
    to: new Date(middle.getTime() - 1),
  }
  const keys = []
  const known = await projectsKnowingIncidents(database, [project])
  for (const metric of fourKeys) {
    const isUnknown = metric.madeOf.includes('incidents') && !known.has(project)
    const own = await readMetric(database, metric, now)
    const past = await readMetric(database, metric, before)
    keys.push({
      metric: metric.name,
      title: metric.title,
      unit: metric.unit,
      value: own.value,
      inWords: own.inWords,
      before: past.value,
      change: changeOf(metric, past, own),
      reasons: isUnknown
        ? [INCIDENTS_UNKNOWN.because]
        : own.counted > 0
          ? await reasonsOf(database, metric, { now, before })
          : [],
    })
  }
  return keys
}
type Keys = Awaited<ReturnType<typeof keysOf>>

function linesOf(keys: Keys): string[] {
  if (keys.every(({ value }) => value === null)) {
    const isKnown = keys.every(({ reasons }) => !reasons.includes(INCIDENTS_UNKNOWN.because))
    return [`• Nothing was deployed, and ${isKnown ? 'nothing went wrong' : INCIDENTS_UNKNOWN.because}.`]
  }
  return keys.map(({ title, value, inWords, change, reasons }) => {
    const changed = change.words === '' ? '' : ` (${change.words})`
    const why = reasons.length > 0 ? `; ${reasons.join('; ')}` : ''
    return `• ${title}: ${value === null ? 'no value this week' : inWords}${changed}${why}.`
  })
}

export async function digestOf(
  { database, publicUrl }: Pick<FollowContext, 'database' | 'publicUrl'>,
  project: string,
  to: Date,
): Promise<Message> {
  const all = project
    ? [project]
    : (await selectRows(database.kysely, projects, (query) => query.orderBy('name'))).map(({ name }) => name)
  const own = []
  for (const name of all.slice(0, MOST_PROJECTS)) {
    own.push({ project: name, keys: await keysOf(database, name, to) })
  }
  const from = new Date(to.getTime() - WEEK_MS)
  const head = `The four keys of ${project || 'all projects'}, ${dayOf(from)} to ${dayOf(to)}`
  const more = all.length - own.length
  const text = [
    `*${head}*`,
    ...own.flatMap(({ project: name, keys }) => [...(project ? [] : [`*${name}*`]), ...linesOf(keys)]),
    ...(more > 0 ? [`… and ${counted(more, 'more project')}: create a digest for each that matters.`] : []),
    ...(all.length === 0 ? ['There are no projects yet.'] : []),
  ].join('\n')
  return {
    id: randomUUID(),
    type: 'digest' as const,
    text,
    at: to,
    from,
    to,
    project: project || null,
    projects: own,
    link: linkToKeys(publicUrl, project),
  }
}

/** Makes the digests that have become due since the last one. Several that were missed become one. */
export async function makeDueDigests(context: FollowContext, now = new Date()): Promise<void> {
  const rows = await selectRows(context.database.kysely, alerts, (query) =>
    query.where('kind', '=', 'digest').where('enable', '=', true).orderBy('id'),
  )
  for (const row of rows) {
    const tick = nextTick(cronOf(row), row.looked_at ?? row.created_at)
    if (!tick || tick > now) continue
    await makeDigest(context, row, now).catch((error) => {
      const known = context.database.explain(error) ?? error
      context.log.warn({ alert: row.id }, `a digest could not be created and will be tried again: ${messageOf(known)}`)
    })
  }
}

async function makeDigest(context: FollowContext, row: AlertRow, now: Date): Promise<void> {
  const { database } = context
  const message = await digestOf(context, row.project_name, now)
  await retrying(database, () =>
    database.transaction(async ({ kysely: inside }) => {
      const seen = { id: row.id, version: row.version }
      const changes = { looked_at: now, problem: '', version: row.version + 1 }
      if ((await updateRows(inside, alerts, seen, changes)) === 1)
        await storeMessage(inside, row.id, 'digest', message, now)
    }),
  )
}
