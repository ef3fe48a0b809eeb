/** Finds the projects that a request is about. */
import type { FastifyRequest } from 'fastify'
import { blueprintOfRun } from '../../control-plane/runs/wanted-calculations.ts'
import { findRow } from '../../control-plane/store.ts'
import type { Database } from '../../database/database.ts'
import { pipelines, tasks } from '../../system/pipelines.ts'
import { blueprints } from '../../system/projects.ts'
import type { ProjectOf } from './route-law.ts'

type Values = Readonly<Record<string, unknown>>

export function projectFinder({ kysely }: Database) {
  const projectOfBlueprint = async (id: number): Promise<string | undefined> =>
    (await findRow(kysely, blueprints, { id }))?.project_name
  const projectOfPipeline = async (id: number): Promise<string | undefined> => {
    const row = await findRow(kysely, pipelines, { id })
    return row && projectOfBlueprint(await blueprintOfRun(kysely, row))
  }
  const projectOfTask = async (id: number): Promise<string | undefined> => {
    const row = await findRow(kysely, tasks, { id })
    return row && projectOfPipeline(row.pipeline_id)
  }
  /**
   * Runs after validation, which decides which values count. The user needs the role in all projects that are returned. An empty
   * list: the request is about no project, or about one that does not exist.
   */
  return async (request: FastifyRequest, reach: ProjectOf): Promise<string[]> => {
    const [params, query] = [request.params, request.query] as Values[]
    const body = (request.body ?? {}) as Values
    // A change may also name a new project, which the user must be allowed to use too.
    const target = request.method === 'PATCH' ? body[reach === 'path' ? 'name' : 'projectName'] : undefined
    const id = Number(params?.id)
    const about: Record<ProjectOf, () => unknown> = {
      path: () => params?.projectName,
      query: () => query?.project,
      body: () => body.project,
      blueprint: () => projectOfBlueprint(id),
      pipeline: () => projectOfPipeline(id),
      task: () => projectOfTask(id),
    }
    const found = await about[reach]()
    if (typeof found !== 'string' || found === '') return []
    return target === undefined || target === null ? [found] : [found, String(target).trim()]
  }
}
