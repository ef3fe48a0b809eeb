/** Causes for which numbers stop coming in: connections, runs and sources that stand still. */
import { counted } from '../../basics/counted.ts'
import type { Cause } from '../../metrics/answer/answer.ts'
import { pipelines } from '../../system/pipelines.ts'
import { blueprints } from '../../system/projects.ts'
import { connectionStates } from '../../system/runs.ts'
import { nextTick } from '../blueprints/cron.ts'
import { lastRunLack, namedFew } from '../projects/partial-data.ts'
import { allConnected } from '../sources.ts'
import { selectRows } from '../store.ts'
import { type CollectedScope, collectedScopes, connectionInWords, recordsOf } from './collected-scopes.ts'
import { type FailedRun, failedRuns } from './failed-runs.ts'
import {
  type AttentionQuestion,
  type Context,
  dayInWords,
  detailsOf,
  type FindCauses,
  firstLine,
  pageOf,
} from './question.ts'

const DAY_MS = 86_400_000
/** A source that missed this many runs stands still. */
const MISSED_RUNS = 3

export const collectionCauses: FindCauses = async (context, question) => {
  const scopes = await collectedScopes(context, question)
  const runs = await failedRuns(context, question.projects)
  const { causes, explained } = await failingConnections(context, question, scopes, runs)
  const told = new Set(causes.map(({ of }) => of))
  return [
    ...causes.map(({ cause }) => cause),
    ...(await runCauses(
      context,
      runs.filter(({ id }) => !explained.has(id)),
      scopes,
    )),
    ...(await standingSources(
      context,
      scopes.filter((scope) => !told.has(placeOf(scope))),
    )),
  ]
}

const placeOf = ({ source, connectionId }: Pick<CollectedScope, 'source' | 'connectionId'>) =>
  `${source.name} ${connectionId}`

/** A connection that fails explains the failures of the run that it failed in. */
async function failingConnections(
  context: Context,
  { projects }: AttentionQuestion,
  scopes: readonly CollectedScope[],
  runs: readonly FailedRun[],
) {
  const states = await selectRows(context.database.kysely, connectionStates, (query) =>
    query.where('failed_at', 'is not', null).orderBy('plugin').orderBy('connection_id'),
  )
  const failing = states.filter(({ failed_at, succeeded_at }) => Number(failed_at) > Number(succeeded_at ?? 0))
  const explained = new Set<number>()
  const causes: { readonly of: string; readonly cause: Cause }[] = []
  for (const { plugin, connection_id, failure, failed_at, collected_at, pipeline_id } of failing) {
    const { source } = allConnected(context.plugins).find(({ name }) => name === plugin) ?? {}
    if (!source) continue
    const own = scopes.filter((scope) => scope.source === source && scope.connectionId === connection_id)
    if (projects && own.length === 0) continue
    const name = await connectionInWords(context, source, connection_id)
    // Somebody deleted it, or a run names one that never was: then the run is the cause.
    if (!name) continue
    // One scope of many can fail a run, so a failed run proves less than a failed test.
    const isOfRun = Number(collected_at ?? 0) === Number(failed_at) && Boolean(pipeline_id)
    const run = isOfRun ? runs.find(({ id }) => id === pipeline_id) : undefined
    if (run) explained.add(run.id)
    const says = isOfRun ? `The last collection through ${name} failed` : `${name} does not work`
    const waits = own.length > 0 ? `, and ${counted(own.length, 'scope')} ${own.length === 1 ? 'waits' : 'wait'}` : ''
    causes.push({
      of: `${source.name} ${connection_id}`,
      cause: {
        kind: 'connection',
        sentence: `${says}${waits}.`,
        remedy: 'Test the connection, mend what it says, and collect again.',
        page: `/sources/${encodeURIComponent(plugin)}/${connection_id}`,
        cost: Math.max(1, recordsOf(own)),
        details: detailsOf([firstLine(failure), ...(run ? [run.message] : [])]),
      },
    })
  }
  return { causes, explained }
}

/** Runs that failed for the same reason are one cause. */
async function runCauses(
  { database }: Context,
  runs: readonly FailedRun[],
  scopes: readonly CollectedScope[],
): Promise<Cause[]> {
  const causes: Cause[] = []
  for (const [message, own] of Map.groupBy(runs, (run) => run.message)) {
    const [first] = own as [FailedRun]
    const names = own.map(({ project, name }) => project || name)
    const lack = await lastRunLack(database.kysely, { id: first.blueprintId, project_name: first.project })
    const isPartial = own.every(({ status }) => status === 'TASK_PARTIAL')
    const how = isPartial ? 'only partly done' : 'not successful'
    const blueprintIds = new Set(own.map(({ blueprintId }) => blueprintId))
    causes.push({
      kind: 'run',
      sentence:
        own.length === 1
          ? `The last run of ${names[0]} ${isPartial ? 'was only partly done' : 'failed'}.`
          : `The last runs of ${namedFew(names)} were ${how}, for one reason.`,
      remedy: 'See what failed, mend it, and run again; the page of the run can run only what failed.',
      page: own.length === 1 ? `/runs/${first.id}` : '/runs',
      cost: Math.max(1, recordsOf(scopes.filter(({ blueprintId }) => blueprintIds.has(blueprintId)))),
      details: detailsOf([lack?.seen ?? '', message]),
    })
  }
  return causes
}

/** Sources through which nothing came whole for several runs of their schedule. */
async function standingSources(context: Context, scopes: readonly CollectedScope[]): Promise<Cause[]> {
  const { kysely } = context.database
  const rows = await selectRows(kysely, blueprints, (query) =>
    query.where('enable', '=', true).where('is_manual', 'is not', true),
  )
  const pastRuns = await kysely.selectFrom(pipelines.name).select('id').limit(1).execute()
  if (pastRuns.length === 0) return []
  const now = new Date()
  const patience = new Map(rows.map(({ id, cron_config }) => [id, patienceOf(cron_config ?? '', now)]))
  const causes: Cause[] = []
  for (const own of Map.groupBy(scopes, placeOf).values()) {
    const [{ source, connectionId }] = own as [CollectedScope]
    const last = own.reduce<Date | null>(
      (at, scope) => (scope.lastAt && (!at || scope.lastAt > at) ? scope.lastAt : at),
      null,
    )
    const waits = own.flatMap(({ blueprintId }) => patience.get(blueprintId) ?? [])
    if (!last || waits.length === 0 || now.getTime() - last.getTime() <= Math.min(...waits)) continue
    const name = await connectionInWords(context, source, connectionId)
    if (!name) continue
    causes.push({
      kind: 'source',
      sentence: `Nothing has arrived through ${name} since ${dayInWords(last)}.`,
      remedy: 'See whether its runs still start, and test the connection.',
      page: `/sources/${encodeURIComponent(source.name)}/${connectionId}`,
      cost: Math.max(1, recordsOf(own)),
      details: detailsOf([...new Set(own.map(({ project }) => project))].map((project) => pageOf([project]))),
    })
  }
  return causes
}

/** How long a source may bring nothing: several runs, and at least a day. */
function patienceOf(schedule: string, now: Date): number {
  const next = nextTick(schedule, now)
  const after = next && nextTick(schedule, next)
  const interval = next && after ? after.getTime() - next.getTime() : DAY_MS
  return Math.max(DAY_MS, MISSED_RUNS * interval)
}
