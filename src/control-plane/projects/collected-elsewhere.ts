/**
 * A project that shares scopes with another project has data before its own first run. Pages then say which project and run
 * the data comes from.
 */
import { pipelines } from '../../system/pipelines.ts'
import { blueprintScopes, blueprints } from '../../system/projects.ts'
import type { ServiceContext } from '../services.ts'
import { hasRun } from './project-findings.ts'

export interface CollectedElsewhere {
  /** Empty when the blueprint has no project. Null, as is `run`, when the user may not see that project. */
  readonly project: string | null
  readonly run: number | null
  readonly finishedAt: Date | null
}

/**
 * Finds the newest run of another blueprint that collected scopes of this project. Undefined when there is none, or when the
 * project itself has run.
 */
export async function collectedElsewhere(
  { database: { kysely } }: Pick<ServiceContext, 'database'>,
  project: string,
  visible?: readonly string[],
): Promise<CollectedElsewhere | undefined> {
  const own = kysely.selectFrom(blueprints.name).select('id').where('project_name', '=', project)
  if (await hasRun(kysely, project)) return undefined
  const sharing = kysely
    .selectFrom(`${blueprintScopes.name} as mine`)
    .innerJoin(`${blueprintScopes.name} as theirs`, (join) =>
      join
        .onRef('theirs.plugin_name', '=', 'mine.plugin_name')
        .onRef('theirs.connection_id', '=', 'mine.connection_id')
        .onRef('theirs.scope_id', '=', 'mine.scope_id'),
    )
    .select('theirs.blueprint_id')
    .where('mine.blueprint_id', 'in', own)
  const [row] = await kysely
    .selectFrom(`${pipelines.name} as run`)
    .innerJoin(`${blueprints.name} as blueprint`, 'blueprint.id', 'run.blueprint_id')
    .select(['run.id', 'run.finished_at', 'blueprint.project_name'])
    .where('run.blueprint_id', 'in', sharing)
    .where('run.status', 'in', ['TASK_COMPLETED', 'TASK_PARTIAL'])
    .where('run.skip_collectors', 'is not', true)
    .orderBy('run.id', 'desc')
    .limit(1)
    .execute()
  if (!row) return undefined
  const name = row.project_name ?? ''
  const isVisible = !visible || visible.includes(name)
  return {
    project: isVisible ? name : null,
    run: isVisible ? Number(row.id) : null,
    finishedAt: row.finished_at ?? null,
  }
}
