/** A project that shares scopes with another has data before its own first run: whoever reads that says where it is from. */
import { pipelines } from '../system/pipelines.ts'
import { blueprintScopes, blueprints } from '../system/projects.ts'
import { hasRun } from './project-findings.ts'
import type { ServiceContext } from './services.ts'

export interface CollectedElsewhere {
  /** Empty: of a blueprint without one. Null, as is the run: one that the asker may not see. */
  readonly project: string | null
  readonly run: number | null
  readonly finishedAt: Date | null
}

/** The newest run of others that collected scopes of a project; undefined: there is none, or the project ran itself. */
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
