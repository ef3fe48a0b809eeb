import type { RawRecord } from '../../../database/table.ts'
import { bigint, indexed, key, string, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdPipelineCommits, cicdPipelines } from '../../../domain/devops.ts'
import { DELIVERY_FIELDS } from '../../../plugin-kit/index.ts'
import {
  braced,
  entity,
  inRepo,
  pages,
  RESULT,
  type RulesContext,
  repoId,
  repos,
  STATUS,
  table,
  values,
} from '../kit.ts'

/** Steps that failed can be started again, which changes the end of their pipeline. */
const DAYS_OF_RERUNS = 14

/** As in DevLake, all patterns are matched against the branch or tag, because pipelines have no names. */
const deliveryOf = ({ target }: RawRecord, { scopeConfig }: RulesContext) =>
  scopeConfig.deliveryOf({ names: [target?.ref_name ?? ''], branches: [target?.ref_name] })

export const pipelines = table('pipelines', 'BitbucketPipeline', {
  bitbucket_id: key(string(191, 'uuid')),
  status: string(100, 'state.name'),
  result: string(100, ({ state }) => state?.result?.name ?? state?.stage?.name),
  ref_name: string('target.ref_name'),
  repo_id: indexed(string(repoId)),
  commit_sha: string('target.commit.hash'),
  web_url: string('links.self.href'),
  type: string((pipeline, context) => deliveryOf(pipeline, context).type),
  environment: string((pipeline, context) => deliveryOf(pipeline, context).environment),
  build_number: bigint(),
  duration_in_seconds: bigint(),
  bitbucket_created_on: timestamp('created_on'),
  bitbucket_complete_on: timestamp('completed_on'),
})

export default entity(pipelines, {
  label: 'Pipelines',
  domainTypes: ['CICD'],
  raw: 'bitbucket_api_pipelines',
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'pipelines/'), query: { sort: '-created_on' } }),
    paging: pages(100),
    records: values,
    key: ({ uuid }) => uuid,
    incremental: {
      newestFirstBy: 'created_on',
      lookBack: { days: DAYS_OF_RERUNS, changedBy: 'completed_on' },
      refetch: {
        where: { bitbucket_complete_on: null },
        request: ({ bitbucket_id }, { scope }) => ({ path: inRepo(scope, `pipelines/${braced(bitbucket_id)}`) }),
      },
    },
    emptyOn: [404], // never switched on
    canBeSwitchedOff: true,
  },
  extract: { dependsOn: DELIVERY_FIELDS },
  convert: {
    to: [cicdPipelines, cicdPipelineCommits],
    *rows(pipeline, { idOf, scope }) {
      const id = idOf(pipelines, pipeline.bitbucket_id)
      const repo_id = idOf(repos, pipeline.repo_id)
      const { build_number, commit_sha, ref_name } = pipeline
      const display_title = `#${build_number}`
      const url = build_number ? `${scope.html_url}/pipelines/results/${build_number}` : ''
      yield cicdPipelines.row({
        id,
        name: `${id}/${build_number}`, // as in DevLake
        display_title,
        url,
        result: classify(pipeline.result, RESULT, ''),
        status: classify(pipeline.status, STATUS, 'OTHER'),
        original_result: pipeline.result,
        original_status: pipeline.status,
        type: pipeline.type,
        environment: pipeline.environment,
        duration_sec: pipeline.duration_in_seconds,
        created_date: pipeline.bitbucket_created_on,
        started_date: pipeline.bitbucket_created_on,
        finished_date: pipeline.bitbucket_complete_on,
        cicd_scope_id: repo_id,
      })
      if (!commit_sha) return
      yield cicdPipelineCommits.row({
        pipeline_id: id,
        commit_sha,
        branch: ref_name,
        repo_id,
        repo_url: scope.html_url,
        display_title,
        url,
      })
    },
  },
})
