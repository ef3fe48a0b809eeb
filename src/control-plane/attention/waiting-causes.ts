/** Causes that lie with the work itself: incidents that nobody resolved, and changes that wait far longer than usual. */
import { sql } from 'kysely'
import { counted } from '../../basics/counted.ts'
import type { Database } from '../../database/database.ts'
import type { Cause } from '../../metrics/answer/answer.ts'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { changesLinks } from '../../metrics/policy/policy.ts'
import { summarized } from '../../metrics/read/read.ts'
import { minutesInWords } from '../../metrics/words/value-words.ts'
import { namedFew } from '../projects/partial-data.ts'
import { policyOfProject } from '../projects/project-policy.ts'
import { type AttentionQuestion, detailsOf, type FindCauses, isAsked, pageOf } from './question.ts'

const MINUTE_MS = 60_000
const DAY = 1440
/** An incident that is open for longer was forgotten, or is not worth being one. */
const LONG_OPEN_DAYS = 7
/** Waiting so many times longer than usual is a cause; so is no wait under a day. */
const FAR_LONGER = 3
const MOST_ROWS = 2000

export const waitingCauses: FindCauses = async ({ database }, question) => [
  ...(await openIncidents(database, question)),
  ...(question.environment === 'PRODUCTION' ? await waitingChanges(database, question) : []),
]

interface Open {
  readonly project: string
  readonly id: string
  readonly title: string | null
  readonly at: Date
}

const inWords = (from: Date, to: Date): string => minutesInWords((to.getTime() - from.getTime()) / MINUTE_MS)
const projectsIn = (rows: readonly { readonly project: string }[]) => [...new Set(rows.map(({ project }) => project))]
const nameOf = ({ title, id }: { readonly title: string | null; readonly id: string }): string =>
  `“${(title || id).slice(0, 100)}”`

/** Incidents of the range that are still open. One that belongs to two projects counts once. */
async function openIncidents({ kysely }: Database, question: AttentionQuestion): Promise<Cause[]> {
  const { from, to } = question
  const latest = new Date(to.getTime() - LONG_OPEN_DAYS * DAY * MINUTE_MS)
  const table = sql.id('table')
  const select = sql`select m.project_name as project, i.id, i.title, i.created_date as at from project_mapping m`
  const isOpen = sql`${isAsked('m.project_name', question)} and i.resolution_date is null
    and i.created_date between ${from} and ${latest}`
  // An incident names one board, but its issue may be on boards of several projects.
  const { rows } = await sql<Open>`${select}
      inner join incidents i on i.${table} = m.${table} and i.scope_id = m.row_id where ${isOpen}
    union ${select} inner join board_issues b on b.board_id = m.row_id
      inner join incidents i on i.id = b.issue_id and i.${table} = 'boards' where ${isOpen} and m.${table} = 'boards'
    order by at, id, project limit ${sql.lit(MOST_ROWS)}`.execute(kysely)
  const [oldest] = rows
  if (!oldest) return []
  const cost = new Set(rows.map(({ id }) => id)).size
  const projects = projectsIn(rows)
  const age = inWords(oldest.at, to)
  const says =
    cost === 1
      ? `One incident of ${namedFew(projects)} has been open for ${age}.`
      : `${counted(cost, 'incident')} of ${namedFew(projects)} have been open for more than ${LONG_OPEN_DAYS} days, the oldest for ${age}.`
  return [
    {
      kind: 'incident',
      sentence: says,
      remedy: 'Resolve those that are over where they are kept: the recovery time knows only what is resolved.',
      page: pageOf(projects),
      cost,
      details: detailsOf(rows.map((row) => `${row.project}: ${nameOf(row)}, open for ${inWords(row.at, to)}`)),
    },
  ]
}

/** Something that changes wait for. The usual wait is the median of those that ended. */
interface Wait {
  readonly what: string
  readonly one: string
  readonly remedy: string
  /** How long changes of the range waited: `project`, `id`, `value` in minutes. */
  readonly ended: (asked: Sql, range: Range) => Sql
  /** Changes that still wait: `project`, `id`, `title`, and `at`, the time since when. */
  readonly open: (asked: Sql, range: Range) => Sql
  readonly since: string
  /** The policy of a project may find deployments that the stored times do not know. */
  readonly isByPolicy: boolean
}
interface Range {
  readonly from: Date
  readonly to: Date
  /** Those that began later do not wait long yet. */
  readonly latest: Date
}

const WAITS: readonly Wait[] = [
  {
    what: 'a deployment',
    one: 'merged change',
    remedy: 'Deploy them, or see whether a deployment that brought them was not collected.',
    ended: (asked, { from, to }) => sql`select m.project_name as project, m.id, m.pr_deploy_time as value
      from project_pr_metrics m
      where ${asked} and m.pr_deploy_time is not null and m.pr_deployed_date between ${from} and ${to}`,
    open: (asked, { from, latest }) => sql`select m.project_name as project, pr.id, pr.title, pr.merged_date as at
      from project_pr_metrics m inner join pull_requests pr on pr.id = m.id
      where ${asked} and m.pr_deployed_date is null and pr.merged_date between ${from} and ${latest}`,
    since: 'merged',
    isByPolicy: true,
  },
  {
    what: 'a first review',
    one: 'open change',
    remedy: 'Review them, close what nobody wants any more, or make the pull requests smaller.',
    ended: (asked, { from, to }) => sql`select m.project_name as project, m.id, m.pr_pickup_time as value
      from project_pr_metrics m inner join pull_requests pr on pr.id = m.id
      where ${asked} and m.pr_pickup_time is not null and pr.merged_date between ${from} and ${to}`,
    // Sources tell of a review by its comments; nothing tells of one that was asked for.
    open: (asked, { from, latest }) => sql`select m.project_name as project, pr.id, pr.title, pr.created_date as at
      from project_mapping m inner join pull_requests pr on pr.base_repo_id = m.row_id
      where ${asked} and m.${sql.id('table')} = 'repos' and pr.merged_date is null and pr.closed_date is null
        and pr.status = 'OPEN' and pr.created_date between ${from} and ${latest}
        and not exists (select 1 from pull_request_comments c
          where c.pull_request_id = pr.id
            and (coalesce(pr.author_id, '') = '' or c.account_id <> pr.author_id))`,
    since: 'opened',
    isByPolicy: false,
  },
]

async function waitingChanges(database: Database, question: AttentionQuestion): Promise<Cause[]> {
  const causes: Cause[] = []
  for (const wait of WAITS) causes.push(...(await waitingFor(database, question, wait)))
  return causes
}

async function waitingFor(database: Database, question: AttentionQuestion, wait: Wait): Promise<Cause[]> {
  const { kysely, dialect } = database
  const { from, to } = question
  const asked = isAsked('m.project_name', question)
  const range = { from, to, latest: new Date(to.getTime() - DAY * MINUTE_MS) }
  const usual = await summarized(dialect, { summary: 'median' }, wait.ended(asked, range), { project: sql`project` })
    .$castTo<{ project: string; value: number; counted: number }>()
    .execute(kysely)
  const usualOf = new Map(usual.rows.map(({ project, ...each }) => [project, each]))
  const { rows } = await sql<Open>`${wait.open(asked, range)} order by at, id limit ${sql.lit(MOST_ROWS)}`.execute(
    kysely,
  )
  const causes: Cause[] = []
  for (const [project, all] of Map.groupBy(rows, (row) => row.project)) {
    const known = usualOf.get(project)
    // If most changes are never seen to stop waiting, they do not wait: nothing tells what ended it.
    if (!known || all.length > Number(known.counted)) continue
    if (wait.isByPolicy && changesLinks(await policyOfProject(database, project))) continue
    const limit = Math.max(DAY, FAR_LONGER * Number(known.value))
    const late = all.filter(({ at }) => (to.getTime() - at.getTime()) / MINUTE_MS > limit)
    const [longest] = late
    if (!longest) continue
    const many = late.length === 1 ? `One ${wait.one}` : counted(late.length, wait.one)
    causes.push({
      kind: 'waiting',
      sentence: `${many} of ${project} ${late.length === 1 ? 'has' : 'have'} waited for ${wait.what} for up to ${inWords(longest.at, to)}; usual is ${minutesInWords(Number(known.value))}.`,
      remedy: wait.remedy,
      page: pageOf([project]),
      cost: late.length,
      details: detailsOf(late.map((row) => `${nameOf(row)}, ${wait.since} ${inWords(row.at, to)} ago`)),
    })
  }
  return causes
}
