import type { RawRecord } from '../../../database/table.ts'
import { bigint, key, string, text, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdPipelineCommits, cicdPipelines } from '../../../domain/devops.ts'
import { DELIVERY_FIELDS, pageNumber } from '../../../plugin-kit/index.ts'
import { entity, inRepo, RESULT, type RulesContext, repoId, repos, STATUS, table, wholeSeconds } from '../kit.ts'

const deliveryOf = ({ name, head_branch }: RawRecord, { scopeConfig }: RulesContext) =>
  scopeConfig.deliveryOf({ names: [name ?? ''], places: [name ?? '', head_branch ?? ''], branches: [head_branch] })

export const runs = table('runs', 'GithubRun', {
  repo_id: key(bigint(repoId)),
  id: key(bigint()),
  name: text(),
  node_id: string(),
  head_branch: string(),
  head_sha: string(),
  path: string(),
  run_number: bigint(),
  event: string(),
  status: string(),
  conclusion: string(),
  workflow_id: bigint(),
  check_suite_id: bigint(),
  check_suite_node_id: string(),
  display_title: text(),
  url: string(),
  html_url: string(),
  github_created_at: timestamp('created_at'),
  github_updated_at: timestamp('updated_at'),
  run_attempt: bigint(),
  run_started_at: timestamp(),
  jobs_url: string(),
  logs_url: string(),
  check_suite_url: string(),
  artifacts_url: string(),
  cancel_url: string(),
  rerun_url: string(),
  workflow_url: string(),
  type: string((run, context) => deliveryOf(run, context).type),
  environment: string((run, context) => deliveryOf(run, context).environment),
})

/** Requests for each run that has changed. The stored input uses DevLake's names. */
export const forEachRun = {
  table: runs,
  changedBy: 'github_updated_at',
}
const total = ({ body }: { body: RawRecord }): number => body.total_count

export default entity(runs, {
  label: 'Workflow Runs',
  domainTypes: ['CICD'],
  raw: 'github_api_runs',
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'actions/runs'), query: { exclude_pull_requests: true } }),
    paging: pageNumber({ size: 100, total }),
    records: ({ workflow_runs }) => workflow_runs,
    incremental: {
      newestFirstBy: 'created_at',
      // Runs can be started again for 30 days: https://docs.github.com/en/actions/managing-workflow-runs
      lookBack: { days: 30, changedBy: 'updated_at' },
      refetch: {
        where: { status: ['queued', 'in_progress', 'requested', 'waiting', 'pending', 'action_required'] },
        request: (run, { scope }) => ({ path: inRepo(scope, `actions/runs/${run.id}`) }),
      },
    },
    windows: {
      cap: 1000,
      earliest: new Date('2018-01-01T00:00:00Z'), // before GitHub Actions
      query: ({ from, to }) => ({ created: `${second(from)}..${second(to)}` }),
      total,
      by: 'github_created_at',
      // Some servers allow more than the 30 days, and ten pages cost little.
      lookThrough: 1000,
    },
    emptyOn: [404],
  },
  extract: { dependsOn: DELIVERY_FIELDS },
  convert: {
    to: [cicdPipelines, cicdPipelineCommits],
    isIncremental: true,
    rows: (run, { idOf, scope }) => {
      const id = idOf(runs, run.repo_id, run.id)
      const repo = idOf(repos, run.repo_id)
      const { display_title, html_url: url } = run
      return [
        cicdPipelines.row({
          id,
          name: run.name,
          display_title,
          url,
          result: classify(run.conclusion, RESULT, ''),
          status: classify(run.status, STATUS, 'OTHER'),
          original_status: run.status,
          original_result: run.conclusion,
          type: run.type,
          environment: run.environment,
          duration_sec: wholeSeconds(run.run_started_at, run.github_updated_at),
          created_date: run.github_created_at,
          started_date: run.run_started_at,
          finished_date: run.github_updated_at,
          cicd_scope_id: repo,
        }),
        cicdPipelineCommits.row({
          pipeline_id: id,
          commit_sha: run.head_sha,
          display_title,
          url,
          branch: run.head_branch,
          repo_id: repo,
          repo_url: scope.html_url,
        }),
      ]
    },
  },
})

const second = (moment: Date): string => `${moment.toISOString().slice(0, 19)}Z`
