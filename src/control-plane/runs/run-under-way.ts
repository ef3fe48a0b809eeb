import { pipelines } from '../../system/pipelines.ts'
import { blueprints } from '../../system/projects.ts'
import type { Queries } from '../store.ts'
import { UNFINISHED } from './states.ts'

/** Finds the newest unfinished run of a project. Data that is missing while it runs is not the fault of the rules. */
export async function runUnderWay(queries: Queries, project: string): Promise<number | undefined> {
  const [row] = await queries
    .selectFrom(`${pipelines.name} as run`)
    .innerJoin(`${blueprints.name} as blueprint`, 'blueprint.id', 'run.blueprint_id')
    .select('run.id')
    .where('blueprint.project_name', '=', project)
    .where('run.status', 'in', UNFINISHED)
    .orderBy('run.id', 'desc')
    .limit(1)
    .execute()
  return row && Number(row.id)
}

export const underWayWords = (run: number): string => `Run ${run} has not ended: what it collects counts then.`
