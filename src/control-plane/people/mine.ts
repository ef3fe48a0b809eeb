/** Reads the work of one person for that person: what waits, for whom, and where each change is. Facts only, no scores. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, onePiece, type Piece } from '../../database/pieces.ts'
import { isOneOf, type Sql } from '../../metrics/calculate/calculation.ts'
import type { Person } from './person.ts'

interface Change {
  readonly id: string
  readonly title: string
  readonly url: string
  readonly repository: string
}
interface AskedReview extends Change {
  readonly author: string
  /** Waiting counts from here: from opening, because no source tells when the review was asked for. */
  readonly since: Date
  readonly isDraft: boolean
}
interface OpenChange extends Change {
  readonly since: Date
  readonly isDraft: boolean
  /** When somebody else answered first; null if nobody has. */
  readonly answeredAt: Date | null
  /** Who was asked to review it and has not answered. Empty: it waits for its author, or for somebody to be asked. */
  readonly waitsFor: readonly string[]
}
interface MergedChange extends Change {
  readonly mergedAt: Date
  /** The project in which it was deployed first. */
  readonly project: string | null
  readonly deployedAt: Date | null
}
interface TouchingIncident {
  readonly id: string
  readonly title: string
  readonly url: string
  readonly createdAt: Date | null
  readonly resolvedAt: Date | null
  readonly isAssigned: boolean
  /** Own changes that were in the deployment to which it is attributed. */
  readonly changes: readonly Pick<Change, 'id' | 'title' | 'url'>[]
}
interface Mine {
  readonly waitsForMe: readonly AskedReview[]
  readonly waiting: readonly OpenChange[]
  readonly onTheWay: readonly MergedChange[]
  readonly incidents: readonly TouchingIncident[]
}

/** The most rows of each list, the oldest that wait and the newest that happened. */
const MOST = 100
const DAYS_BACK = 30
const DAY = 86_400_000

/** `projects`: those that the user may see; undefined for all. */
export async function readMine(
  database: Database,
  { accounts }: Person,
  projects: readonly string[] | undefined,
  now = new Date(),
): Promise<Mine> {
  const mine = onePiece(accounts)
  const since = new Date(now.getTime() - DAYS_BACK * DAY)
  const ofProjects = projects
    ? sql`pr.base_repo_id in (select row_id from project_mapping where ${sql.ref('table')} = 'repos'
        and ${isOneOf(sql`project_name`, projects)})`
    : sql`1 = 1`
  const asked: Asked = { database, mine, since, ofProjects, projects }
  return {
    waitsForMe: await reviewsOf(asked),
    waiting: await openOf(asked),
    onTheWay: await mergedOf(asked),
    incidents: await incidentsOf(asked),
  }
}

interface Asked {
  readonly database: Database
  readonly mine: Piece<string>
  readonly since: Date
  readonly ofProjects: Sql
  readonly projects: readonly string[] | undefined
}

const CHANGE = sql`pr.id, pr.title, pr.url, coalesce(nullif(r.name, ''), pr.base_repo_id) as repository`
const REPOSITORY = sql`left join repos r on r.id = pr.base_repo_id`
const IS_OPEN = sql`pr.status = 'OPEN' and pr.merged_date is null and pr.closed_date is null`

async function reviewsOf({ database, mine, ofProjects }: Asked): Promise<AskedReview[]> {
  const answered = sql`exists (select 1 from pull_request_comments c where c.pull_request_id = pr.id
    and ${among(sql`c.account_id`, mine)})`
  const { rows } =
    await sql<AskedReview>`select distinct ${CHANGE}, pr.created_date as since, pr.is_draft as ${sql.id('isDraft')},
      coalesce(nullif(a.full_name, ''), nullif(a.user_name, ''), pr.author_name, '') as author
    from pull_request_reviewers asked inner join pull_requests pr on pr.id = asked.pull_request_id
    ${REPOSITORY} left join accounts a on a.id = pr.author_id
    where ${among(sql`asked.reviewer_id`, mine)} and ${IS_OPEN} and not ${among(sql`pr.author_id`, mine)}
      and not ${answered} and ${ofProjects}
    order by since, pr.id limit ${sql.lit(MOST)}`.execute(database.kysely)
  return rows.map((row) => ({ ...row, isDraft: Boolean(row.isDraft) }))
}

async function openOf({ database, mine, ofProjects }: Asked): Promise<OpenChange[]> {
  const { rows } = await sql<Omit<OpenChange, 'waitsFor'>>`select ${CHANGE}, pr.created_date as since,
      pr.is_draft as ${sql.id('isDraft')},
      (select min(c.created_date) from pull_request_comments c where c.pull_request_id = pr.id
        and coalesce(c.account_id, '') <> pr.author_id) as ${sql.id('answeredAt')}
    from pull_requests pr ${REPOSITORY}
    where ${among(sql`pr.author_id`, mine)} and ${IS_OPEN} and ${ofProjects}
    order by since, pr.id limit ${sql.lit(MOST)}`.execute(database.kysely)
  const names = await reviewersOf(
    database,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => ({ ...row, isDraft: Boolean(row.isDraft), waitsFor: names.get(row.id) ?? [] }))
}

/** Who was asked to review each of them and has not answered, by name. */
async function reviewersOf({ kysely }: Database, ids: readonly string[]): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ id: string; name: string }>`select distinct asked.pull_request_id as id,
      coalesce(nullif(asked.name, ''), nullif(a.full_name, ''), nullif(asked.user_name, ''), nullif(a.user_name, ''),
        asked.reviewer_id) as name
    from pull_request_reviewers asked inner join pull_requests pr on pr.id = asked.pull_request_id
    left join accounts a on a.id = asked.reviewer_id
    where ${among(sql`asked.pull_request_id`, onePiece(ids))} and asked.reviewer_id <> pr.author_id
      and not exists (select 1 from pull_request_comments c where c.pull_request_id = asked.pull_request_id
        and c.account_id = asked.reviewer_id)
    order by id, name`.execute(kysely)
  const grouped = Map.groupBy(rows, ({ id }) => id)
  return new Map([...grouped].map(([id, own]) => [id, own.map(({ name }) => name)]))
}

/** Merged lately, or deployed lately: first those that are not in production yet. */
async function mergedOf({ database, mine, since, ofProjects, projects }: Asked): Promise<MergedChange[]> {
  const seen = projects ? isOneOf(sql`m.project_name`, projects) : sql`1 = 1`
  const { rows } = await sql<MergedChange>`select ${CHANGE}, pr.merged_date as ${sql.id('mergedAt')},
      first_one.project_name as project, first_one.pr_deployed_date as ${sql.id('deployedAt')}
    from pull_requests pr ${REPOSITORY}
    left join (select m.id, m.project_name, m.pr_deployed_date,
        row_number() over (partition by m.id order by m.pr_deployed_date, m.project_name) as turn
      from project_pr_metrics m inner join pull_requests own on own.id = m.id
      where ${among(sql`own.author_id`, mine)} and m.pr_deployed_date is not null and ${seen}) first_one
      on first_one.id = pr.id and first_one.turn = 1
    where ${among(sql`pr.author_id`, mine)} and pr.merged_date is not null and ${ofProjects}
      and (pr.merged_date >= ${since} or first_one.pr_deployed_date >= ${since})
    order by case when first_one.pr_deployed_date is null then 0 else 1 end, pr.merged_date desc, pr.id
    limit ${sql.lit(MOST)}`.execute(database.kysely)
  return rows
}

interface IncidentRow extends Omit<TouchingIncident, 'isAssigned' | 'changes'> {
  readonly isAssigned: number
  readonly changeId: string | null
  readonly changeTitle: string | null
  readonly changeUrl: string | null
}

/** Open ones and those of late that are assigned to the person, or attributed to a deployment that brought a change of theirs. */
async function incidentsOf({ database, mine, since, projects }: Asked): Promise<TouchingIncident[]> {
  const seen = projects ? isOneOf(sql`m.project_name`, projects) : sql`1 = 1`
  const inProjects = projects
    ? sql`exists (select 1 from project_mapping pm where pm.${sql.id('table')} = i.${sql.id('table')}
        and pm.row_id = i.scope_id and ${isOneOf(sql`pm.project_name`, projects)})`
    : sql`1 = 1`
  const brought = sql`select link.id as incident_id, 0 as is_assigned, pr.id as change_id, pr.title, pr.url
    from project_pr_metrics m inner join pull_requests pr on pr.id = m.id
    inner join cicd_deployment_commits c on c.id = m.deployment_commit_id
    inner join project_incident_deployment_relationships link
      on link.project_name = m.project_name and link.deployment_id = c.cicd_deployment_id
    where ${among(sql`pr.author_id`, mine)} and m.deployment_commit_id <> '' and ${seen}`
  const assigned = sql`select i.id, 1, null, null, null from incidents i
    where ${among(sql`i.assignee_id`, mine)} and ${inProjects}`
  const { rows } = await sql<IncidentRow>`select i.id, i.title, i.url, i.created_date as ${sql.id('createdAt')},
      i.resolution_date as ${sql.id('resolvedAt')}, touch.is_assigned as ${sql.id('isAssigned')},
      touch.change_id as ${sql.id('changeId')}, touch.title as ${sql.id('changeTitle')}, touch.url as ${sql.id('changeUrl')}
    from (${brought} union ${assigned}) touch inner join incidents i on i.id = touch.incident_id
    where i.resolution_date is null or i.created_date >= ${since}
    order by case when i.resolution_date is null then 0 else 1 end, i.created_date desc, i.id, touch.change_id
    limit ${sql.lit(10 * MOST)}`.execute(database.kysely)
  return [...Map.groupBy(rows, ({ id }) => id).values()].slice(0, MOST).map((own) => {
    const { id, title, url, createdAt, resolvedAt } = own[0] as IncidentRow
    const changes = own.flatMap(({ changeId, changeTitle, changeUrl }) =>
      changeId === null ? [] : [{ id: changeId, title: changeTitle ?? '', url: changeUrl ?? '' }],
    )
    return {
      id,
      title,
      url,
      createdAt,
      resolvedAt,
      isAssigned: own.some((row) => Number(row.isAssigned) === 1),
      changes,
    }
  })
}
