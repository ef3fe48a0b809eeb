import { bigint, key, string, text, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdPipelineCommits, cicdPipelines } from '../../../domain/devops.ts'
import { DELIVERY_FIELDS } from '../../../plugin-kit/index.ts'
import {
  byToken,
  entity,
  builds as hasBuilds,
  inProject,
  NATIVE,
  repos,
  repositoryId,
  secondsBetween,
  table,
  versioned,
} from '../kit.ts'

const UNFINISHED = ['inProgress', 'notStarted', 'postponed', 'cancelling']
const RESULT = { SUCCESS: ['succeeded', 'partiallySucceeded'], FAILURE: ['canceled', 'failed', 'none'] }
const STATUS = { DONE: ['completed', 'cancelling'], IN_PROGRESS: ['inProgress', 'notStarted', 'postponed'] }

export const builds = table('builds', 'AzuredevopsBuild', {
  azuredevops_id: key(bigint('id')),
  repository_id: string(repositoryId),
  status: string(),
  result: string(),
  name: string(100, 'definition.name'),
  source_branch: string('sourceBranch'),
  source_version: string('sourceVersion'),
  tags: text(({ tags }) => JSON.stringify(tags ?? [])),
  queue_time: timestamp('queueTime'),
  start_time: timestamp('startTime'),
  finish_time: timestamp('finishTime'),
})

export default entity(builds, {
  label: 'Api Builds',
  domainTypes: ['CICD'],
  raw: 'azuredevops_go_api_builds',
  collect: {
    when: hasBuilds,
    request: ({ scope }) =>
      versioned(inProject(scope, 'build/builds'), {
        repositoryId: scope.external_id || scope.id,
        repositoryType: scope.type || NATIVE,
        queryOrder: 'queueTimeDescending',
      }),
    paging: byToken(100),
    incremental: {
      newestFirstBy: 'queueTime',
      // Stages of a build that has ended can be run again.
      lookBack: { days: 14, changedBy: 'lastChangedDate' },
      refetch: {
        where: { status: UNFINISHED },
        request: ({ azuredevops_id }, { scope }) => versioned(inProject(scope, `build/builds/${azuredevops_id}`)),
      },
    },
  },
  convert: {
    to: [cicdPipelines, cicdPipelineCommits],
    dependsOn: DELIVERY_FIELDS,
    *rows(build, { idOf, scope, scopeConfig }) {
      const id = idOf(builds, build.azuredevops_id)
      // The purpose of a build can also be given by its tags.
      const named = `${build.name};${build.tags}`
      yield cicdPipelines.row({
        id,
        name: build.name,
        result: classify(build.result, RESULT, ''),
        status: classify(build.status, STATUS, 'OTHER'),
        original_status: build.status,
        original_result: build.result,
        ...scopeConfig.deliveryOf({ names: [named], branches: [build.source_branch], isProductionNamed: true }),
        duration_sec: secondsBetween(build.start_time, build.finish_time),
        created_date: build.queue_time,
        queued_date: build.queue_time,
        started_date: build.start_time,
        finished_date: build.finish_time,
        cicd_scope_id: idOf(repos, build.repository_id),
      })
      if (build.source_version) {
        yield cicdPipelineCommits.row({
          pipeline_id: id,
          commit_sha: build.source_version,
          branch: build.source_branch,
          repo_id: build.repository_id, // as in DevLake, the plain id
          repo_url: scope.url,
        })
      }
    },
  },
})

/** Requests for each build that is new, has ended since the last run, or may still change. */
export const forEachBuild = {
  table: builds,
  input: ({ azuredevops_id }: { azuredevops_id: number }) => ({ AzuredevopsId: azuredevops_id }),
  changedBy: 'finish_time',
  again: { where: { status: UNFINISHED } },
}
