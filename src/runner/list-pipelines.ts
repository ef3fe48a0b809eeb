import { sql } from 'kysely'
import { LONGEST_LISTED } from '../control-plane/plan/stored-plans.ts'
import type { Pipeline } from '../control-plane/records.ts'
import { readPipelines } from '../control-plane/runs/pipeline-rows.ts'
import { UNFINISHED } from '../control-plane/runs/states.ts'
import type { PipelineFilter, ServiceContext } from '../control-plane/services.ts'
import { type Listed, selectPage } from '../control-plane/store.ts'
import { contains } from '../database/like.ts'
import { pipelineLabels, pipelines } from '../system/pipelines.ts'
import { blueprints } from '../system/projects.ts'
import { wantedCalculations } from '../system/runs.ts'

/** Newest first. */
export async function listPipelines(
  { database: { kysely }, secrets }: ServiceContext,
  { status, pending, blueprintId, label, projects, keyword, ...page }: PipelineFilter = {},
): Promise<Listed<Pipeline>> {
  const { count, items } = await selectPage(
    kysely,
    pipelines,
    page,
    (query) => {
      let narrowed = query
      if (status !== undefined) narrowed = narrowed.where('status', '=', status)
      if (pending) narrowed = narrowed.where('status', 'in', UNFINISHED)
      if (blueprintId) narrowed = narrowed.where('blueprint_id', '=', blueprintId)
      if (projects) {
        const own = kysely
          .selectFrom(blueprints.name)
          .select('id')
          .where('project_name', 'in', [...projects])
        const calculating = kysely.selectFrom(wantedCalculations.name).select('pipeline_id')
        narrowed = narrowed.where(({ or, eb }) =>
          or([eb('blueprint_id', 'in', own), eb('id', 'in', calculating.where('blueprint_id', 'in', own))]),
        )
      }
      if (keyword) narrowed = narrowed.where(isCalled(keyword))
      if (label === undefined) return narrowed
      const labelled = kysely.selectFrom(pipelineLabels.name).select('pipeline_id').where('name', '=', label)
      return narrowed.where('id', 'in', labelled)
    },
    [['id', 'desc']],
  )
  return { count, items: await readPipelines(kysely, items, secrets, LONGEST_LISTED) }
}

/** Matches a part of the name in any letter case, or the id. */
function isCalled(keyword: string) {
  const isNumber = /^\d{1,15}$/.test(keyword)
  const called = contains(sql.ref('name'), keyword)
  return isNumber ? sql<boolean>`(${called} or id = ${Number(keyword)})` : called
}
