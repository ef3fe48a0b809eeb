import { bigint, key, string, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdTasks } from '../../../domain/devops.ts'
import { DELIVERY_FIELDS, innerJoin } from '../../../plugin-kit/index.ts'
import { entity, inProject, inputId, repos, secondsBetween, TASK_RESULT, table, versioned } from '../kit.ts'
import { builds, forEachBuild } from './builds.ts'

const STATUS = { DONE: ['completed'], IN_PROGRESS: ['pending', 'inProgress'] }

/** Stages, jobs and steps of a build. */
export const timelineRecords = table('timeline_records', 'AzuredevopsTimelineRecord', {
  record_id: key(string(191, 'id')),
  build_id: key(bigint(inputId)),
  parent_id: string('parentId'),
  type: string(),
  name: string(),
  start_time: timestamp('startTime'),
  finish_time: timestamp('finishTime'),
  state: string(),
  result: string(),
  change_id: bigint('changeId'),
  last_modified: string('lastModified'),
})

export default entity(timelineRecords, {
  label: 'Api Timeline Records',
  domainTypes: ['CICD'],
  raw: 'azuredevops_go_api_timeline_records',
  collect: {
    forEach: forEachBuild,
    request: ({ scope, input }) => versioned(inProject(scope, `build/builds/${input.AzuredevopsId}/timeline`)),
    records: (timeline) => timeline?.records ?? [],
    emptyOn: [204, 404], // not started, or deleted since
  },
  convert: {
    to: [cicdTasks],
    joins: { build: innerJoin(builds, { connection_id: 'connection_id', azuredevops_id: 'build_id' }) },
    where: ({ id }) => ({ 'build.repository_id': id }),
    dependsOn: DELIVERY_FIELDS,
    rows: (record, { idOf, scopeConfig }) => [
      cicdTasks.row({
        id: idOf(timelineRecords, record.record_id, record.build_id),
        pipeline_id: idOf(builds, record.build_id),
        name: record.name,
        result: classify(record.result, TASK_RESULT, ''),
        status: classify(record.state, STATUS, 'OTHER'),
        original_status: record.state,
        original_result: record.result,
        ...scopeConfig.deliveryOf({
          names: [record.name],
          branches: [record.build.source_branch],
          isJob: true,
          isProductionNamed: true,
        }),
        duration_sec: secondsBetween(record.start_time, record.finish_time),
        created_date: record.start_time ?? record.build.queue_time,
        started_date: record.start_time,
        finished_date: record.finish_time,
        cicd_scope_id: idOf(repos, record.build.repository_id),
      }),
    ],
  },
})
