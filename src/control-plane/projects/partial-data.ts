/** Lists what is missing behind the numbers of a project, each with its remedy. It is shown wherever the numbers are shown. */
import { counted } from '../../basics/counted.ts'
import { withoutHistory } from '../../metrics/findings/without-history.ts'
import { pipelines } from '../../system/pipelines.ts'
import { blueprints } from '../../system/projects.ts'
import { newestTasks } from '../runs/pipeline-rows.ts'
import { FINISHED } from '../runs/states.ts'
import type { ServiceContext } from '../services.ts'
import { findRow, type Queries, type QueryOf, selectRows } from '../store.ts'

interface Lack {
  /** `history`: the git history could not be read. `run`: the last run failed, or completed only in part. */
  readonly kind: 'history' | 'run'
  readonly seen: string
  readonly remedy: string
  /** The run that tells more; null when there is none. */
  readonly run: number | null
}

const MOST_NAMED = 3
const MOST_CAUSES = 2

/** `a, b, c and 5 more` */
function namedFew(names: readonly string[]): string {
  const more = names.length - MOST_NAMED
  return more > 0 ? `${names.slice(0, MOST_NAMED).join(', ')} and ${more} more` : names.join(', ')
}

export const historyLack = (names: readonly string[]): string =>
  `no git history for ${counted(names.length, 'repository', 'repositories')} (${namedFew(names)})`

export async function lacksOf({ database }: Pick<ServiceContext, 'database'>, project: string): Promise<Lack[]> {
  const { kysely } = database
  const blueprint = await findRow(kysely, blueprints, { project_name: project })
  const run = blueprint && (await lastRunLack(kysely, blueprint))
  const names = await withoutHistory(database, project)
  const history: Lack = {
    kind: 'history',
    seen: `Lead times leave out pull requests: ${historyLack(names)}.`,
    remedy: run
      ? 'They count once git can be read: the last run says why it could not.'
      : `Collect the project again, with the entity CODE: \`npx weir collect ${project}\`.`,
    run: run?.run ?? null,
  }
  return [...(names.length > 0 ? [history] : []), ...(run ? [run] : [])]
}

/**
 * The failure of the last run. Undefined when it went well or there was none. A run that only transforms stored data says
 * nothing about what an earlier collection missed, so the last collecting run counts too.
 */
export async function lastRunLack(
  queries: Queries,
  { id: blueprintId, project_name: project }: { readonly id: number; readonly project_name: string },
): Promise<(Lack & { readonly run: number }) | undefined> {
  const newest = (narrow: (query: QueryOf<typeof pipelines>) => QueryOf<typeof pipelines>) =>
    selectRows(queries, pipelines, (query) =>
      narrow(query.where('blueprint_id', '=', blueprintId).where('status', 'in', FINISHED))
        .orderBy('id', 'desc')
        .limit(1),
    )
  const last = [
    ...(await newest((query) => query)),
    ...(await newest((query) => query.where('skip_collectors', 'is not', true))),
  ].find(({ status }) => status === 'TASK_FAILED' || status === 'TASK_PARTIAL')
  if (!last) return undefined
  const tasks = await newestTasks(queries, last.id)
  const failed = tasks.filter(({ status }) => status === 'TASK_FAILED')
  const causes = [...new Set(failed.map(({ message }) => String(message ?? '').split('\n')[0] as string))]
  const more = causes.length > MOST_CAUSES ? ` (and ${counted(causes.length - MOST_CAUSES, 'other cause')})` : ''
  const why = causes.slice(0, MOST_CAUSES).map(sentence).join(' ') || String(last.message ?? '').split('\n')[0]
  const again = project === '' ? `run ${last.id} again` : `\`npx weir collect ${project}\``
  return {
    kind: 'run',
    seen: sentence(
      `In run ${last.id}, ${failed.length.toLocaleString('en')} of ${counted(tasks.length, 'task')} failed: ${why}${more}`,
    ),
    remedy: `Mend that, then ${again}; the page of the run can also run only the failed ones again.`,
    run: last.id,
  }
}

/** Adds a full stop where one is missing. Messages of tools may lack it, and more text follows them. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)
