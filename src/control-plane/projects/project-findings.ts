/** Explains which data of a project does not count and why. For a project that never ran, the advice is to run it. */
import type { Database } from '../../database/database.ts'
import { type Finding, findingsOf } from '../../metrics/findings/findings.ts'
import type { Metric, MetricFilter } from '../../metrics/metric.ts'
import { pipelines } from '../../system/pipelines.ts'
import { blueprintScopes, blueprints } from '../../system/projects.ts'
import type { Queries } from '../store.ts'

const blueprintsOf = (queries: Queries, project: string) =>
  queries.selectFrom(blueprints.name).select('id').where('project_name', '=', project)

export async function hasRun(queries: Queries, project: string): Promise<boolean> {
  const own = blueprintsOf(queries, project)
  const ran = await queries.selectFrom(pipelines.name).select('id').where('blueprint_id', 'in', own).limit(1).execute()
  return ran.length > 0
}

/** True when the project has scopes to collect but never ran. Data that is only sent to it needs no run. */
async function waitsForRun(queries: Queries, project: string): Promise<boolean> {
  const own = blueprintsOf(queries, project)
  const scopes = queries.selectFrom(blueprintScopes.name).select('scope_id').where('blueprint_id', 'in', own).limit(1)
  return (await scopes.execute()).length > 0 && !(await hasRun(queries, project))
}

export async function projectFindings(database: Database, metric: Metric, filter: MetricFilter): Promise<Finding[]> {
  const found = await findingsOf(database, metric, filter)
  if (!(await waitsForRun(database.kysely, filter.project))) return found
  const notRun: Finding = {
    seen: 'This project has not run yet, so nothing of what it is told to collect counts.',
    remedy: `Run it: \`npx weir collect ${filter.project}\`, or Collect now on its page.`,
    cure: { kind: 'collection' },
  }
  // The project has sources, and no run that could have failed, so those findings do not apply.
  return [notRun, ...found.filter(({ cure: { kind } }) => kind !== 'collection' && kind !== 'run')]
}
