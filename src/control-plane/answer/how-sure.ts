/** How sure an answer is: what does not count and why, what was not collected, and the rules by which everything was counted. */
import { sql } from 'kysely'
import type { HowSure, Period } from '../../metrics/answer/answer.ts'
import { confidenceOf } from '../../metrics/answer/confidence.ts'
import type { KeyRead } from '../../metrics/answer/keys.ts'
import { materialOf } from '../../metrics/answer/part-findings.ts'
import { changeLeadTime } from '../../metrics/definitions/change-lead-time.ts'
import { deploymentFrequency } from '../../metrics/definitions/deployment-frequency.ts'
import { recoveryTime } from '../../metrics/definitions/recovery-time.ts'
import { REMEDIES } from '../../metrics/findings/remedies.ts'
import type { Reason } from '../../metrics/metric.ts'
import { type Explanation, readMetrics } from '../../metrics/read/read.ts'
import { couldCount } from '../../metrics/read/rests-on.ts'
import { type Asked, asWhole, projectsOf } from '../../metrics/whole.ts'
import { gaps } from '../../plugin-kit/raw/gaps.ts'
import { receipts } from '../../plugin-kit/raw/receipts.ts'
import { pipelines } from '../../system/pipelines.ts'
import { blueprints } from '../../system/projects.ts'
import { type CollectedScope, collectedScopes, markOf } from '../attention/collected-scopes.ts'
import { amongNames, type Context, firstLine, pageOf } from '../attention/question.ts'
import { rulePage } from '../attention/rule-causes.ts'
import { selectRows } from '../store.ts'
import { rulesOfProjects } from './rules-in-words.ts'

interface SureQuestion {
  readonly filter: Asked
  readonly reads: readonly KeyRead[]
}

interface Told {
  readonly metric: string
  readonly explained: Explanation
}

/** Records that the question is not about, which nobody would expect to count. */
const NOT_ASKED: ReadonlySet<Reason> = new Set([
  'pull_request_not_merged',
  'outside_time_range',
  'other_time',
  'deployment_outside_time_range',
  'created_after_range',
  'resolved',
  'same_rollout',
])
/** Few incidents are good news, so confidence does not rest on their number. */
const GROUNDS: ReadonlySet<string> = new Set(['pull requests', 'deployments'])

export async function howSure(context: Context, { filter, reads }: SureQuestion): Promise<HowSure> {
  const projects = projectsOf(filter)
  const explained = await materialsOf(context, filter, reads)
  const scopes = await collectedScopes(context, { projects })
  const lists = await listsOf(context, scopes)
  const materials = explained.map((each) => ({
    material: materialOf(each.metric),
    counted: each.explained.counted,
    possible: each.explained.counted + couldCount(each.explained),
  }))
  const grounds = {
    missing: lists.filter(({ status }) => status !== 'complete').length,
    lists: lists.length,
    materials: materials.filter(({ material }) => GROUNDS.has(material)),
  }
  return {
    ...confidenceOf(grounds),
    counted: await Promise.all(explained.map((each) => countedOf(context, projects, each))),
    gaps: await gapsOf(context, lists, filter),
    rules: await rulesOfProjects(context, projects, asWhole(filter).policy),
    collectedAt: await collectedAt(context, projects, scopes),
  }
}

/** The materials of the answer, with the reasons of what does not count; those of changes are told apart as finely as can be. */
async function materialsOf({ database }: Context, filter: Asked, reads: readonly KeyRead[]): Promise<Told[]> {
  const [changes] = await readMetrics(database, changeLeadTime, [filter], true)
  const others = [deploymentFrequency, recoveryTime].flatMap(({ name }): Told[] => {
    const read = reads.find(({ metric }) => metric.name === name)
    return read ? [{ metric: name, explained: read.now.explained }] : []
  })
  return changes ? [{ metric: changeLeadTime.name, explained: changes }, ...others] : others
}

type Counted = HowSure['counted'][number]

async function countedOf(context: Context, projects: readonly string[], { metric, explained }: Told): Promise<Counted> {
  const left = explained.leftOut.filter(({ reason }) => !NOT_ASKED.has(reason))
  const leftOut: Counted['leftOut'][number][] = []
  for (const { reason, meaning, count } of left) {
    const { remedy } = REMEDIES[reason]
    leftOut.push({ reason, meaning, count, remedy, page: await pageFor(context, projects, reason) })
  }
  const total = left.reduce((sum, { count }) => sum + count, explained.counted)
  return { material: materialOf(metric), counted: explained.counted, total, leftOut }
}

/** Where the remedy is applied; null if there is nothing to do, or nothing that a page could do. */
async function pageFor(context: Context, projects: readonly string[], reason: Reason): Promise<string | null> {
  const { cure } = REMEDIES[reason]
  const [only] = projects
  switch (cure?.kind) {
    case 'rules':
      return projects.length === 1 && only !== undefined ? rulePage(context, only, cure.rules ?? []) : pageOf(projects)
    case 'policy':
      return pageOf(projects, 'policies')
    case 'collection':
      return pageOf(projects, 'blueprint')
    case 'run':
      return '/runs'
    default:
      return null
  }
}

interface List {
  readonly scope: CollectedScope
  readonly raw_table: string
  readonly subtask: string
  readonly params: string
  readonly status: string
  readonly message: string
  readonly last: Date | null
}

/** Every list that is collected for these scopes. */
async function listsOf({ database: { kysely } }: Context, scopes: readonly CollectedScope[]): Promise<List[]> {
  const scopeOf = new Map(scopes.flatMap((scope) => scope.marks.map((mark) => [mark, scope])))
  if (scopeOf.size === 0) return []
  const rows = await selectRows(kysely, receipts, (query) =>
    query.orderBy('plugin').orderBy('params').orderBy('raw_table'),
  )
  return rows.flatMap(({ plugin, raw_table, subtask, params, status, message, last_success_at }) => {
    const scope = scopeOf.get(markOf(plugin, params))
    const last = last_success_at ?? null
    return scope ? [{ scope, raw_table, subtask, params, status, message: firstLine(message), last }] : []
  })
}

const MOST_GAPS = 20

/** The times of the range for which something is missing, one for each list. */
async function gapsOf(
  { database: { kysely } }: Context,
  lists: readonly List[],
  { from, to }: Period,
): Promise<HowSure['gaps']> {
  const incomplete = lists.filter(({ status }) => status !== 'complete')
  if (incomplete.length === 0) return []
  const known = Map.groupBy(await selectRows(kysely, gaps), ({ raw_table, params }) => markOf(raw_table, params))
  const found = incomplete.flatMap(({ scope, raw_table, subtask, params, message, last }) => {
    const own = known.get(markOf(raw_table, params)) ?? []
    // Null: all of the list may be affected.
    const starts = own.length > 0 ? own.map(({ since }) => since ?? from) : [last ?? from]
    const start = new Date(Math.max(from.getTime(), Math.min(...starts.map((each) => each.getTime()))))
    if (start > to) return []
    const why = firstLine(own[0]?.reason) || message || 'It did not come whole.'
    return [{ from: start, to, what: `${listInWords(subtask)} of ${scope.name}`, why }]
  })
  return found.slice(0, MOST_GAPS)
}

/** `collectApiPullRequests` collects pull requests. */
const listInWords = (subtask: string): string =>
  subtask
    .replace(/^collect(Api|Graphql)?/, '')
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()

/** When the newest run that brought data ended; of scopes that other projects collect, when a list last came. */
async function collectedAt(
  { database: { kysely } }: Context,
  projects: readonly string[],
  scopes: readonly CollectedScope[],
): Promise<Date | null> {
  if (projects.length === 0) return null
  const { rows } = await sql<{ at: Date | null }>`select max(run.finished_at) as at
    from ${sql.table(pipelines.name)} run inner join ${sql.table(blueprints.name)} b on b.id = run.blueprint_id
    where ${amongNames('b.project_name', projects)} and run.skip_collectors is not true
      and run.status in ('TASK_COMPLETED', 'TASK_PARTIAL')`.execute(kysely)
  const times = [rows[0]?.at ?? null, ...scopes.map(({ lastAt }) => lastAt)].flatMap((at) => at ?? [])
  return times.length === 0 ? null : new Date(Math.max(...times.map((at) => at.getTime())))
}
