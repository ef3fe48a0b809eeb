import { bigint, indexed, json, key, string, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdTasks } from '../../../domain/devops.ts'
import { DELIVERY_FIELDS, leftJoin } from '../../../plugin-kit/index.ts'
import { entity, inRepo, REST_PAGE, RESULT, repoId, repos, STATUS, table, wholeSeconds } from '../kit.ts'
import { forEachRun, runs } from './runs.ts'

/** A job does not contain its branch. So the tool row is classified by the name only, and the domain row joins the run to use its branch. */
const byName = ({ name }: { readonly name: string }) => ({ names: [name], isJob: true })
const upper = (name: string) => string((job) => job[name]?.toUpperCase())

export const jobs = table('jobs', 'GithubJob', {
  repo_id: key(bigint(repoId)),
  id: key(bigint()),
  run_id: indexed(bigint()),
  run_url: string(),
  node_id: string(),
  head_sha: string(),
  url: string(),
  html_url: string(),
  status: upper('status'),
  conclusion: upper('conclusion'),
  started_at: timestamp(),
  completed_at: timestamp(),
  name: string(),
  steps: json(),
  check_run_url: string(),
  labels: json(),
  runner_id: bigint('run_id'), // a mistake of DevLake, kept because its tests expect it
  runner_name: string(),
  runner_group_id: bigint(),
  type: string((job, { scopeConfig }) => scopeConfig.deliveryOf(byName(job)).type),
  environment: string((job, { scopeConfig }) => scopeConfig.deliveryOf(byName(job)).environment),
})

export default entity(jobs, {
  label: 'Jobs',
  names: { collect: 'Collect Job Runs' },
  domainTypes: ['CICD'],
  raw: 'github_api_jobs',
  collect: {
    forEach: { ...forEachRun, input: ({ id }) => ({ ID: id }) },
    request: ({ scope, input }) => ({ path: inRepo(scope, `actions/runs/${input.ID}/jobs`) }),
    paging: REST_PAGE,
    records: ({ jobs }) => jobs,
    emptyOn: [404], // GitHub deletes old runs
  },
  extract: {
    // A re-run has other jobs, so all jobs of a run are replaced together.
    owns: [{ table: jobs, by: { connection_id: 'connection_id', repo_id: 'repo_id', run_id: 'run_id' } }],
    dependsOn: DELIVERY_FIELDS,
  },
  convert: {
    to: [cicdTasks],
    joins: { run: leftJoin(runs, { connection_id: 'connection_id', repo_id: 'repo_id', id: 'run_id' }) },
    dependsOn: DELIVERY_FIELDS,
    owns: [{ table: cicdTasks, by: { pipeline_id: 'pipeline_id' } }],
    replaces: ['github_api_jobs', 'github_graphql_jobs'],
    isIncremental: true,
    *rows({ run, ...job }, { idOf, scopeConfig }) {
      if (!job.started_at) return
      const { type, environment } = scopeConfig.deliveryOf({ ...byName(job), branches: [run?.head_branch] })
      yield cicdTasks.row({
        id: idOf(jobs, job.run_id, job.id), // as in DevLake, the id of the run, where the key has the repository
        name: job.name,
        pipeline_id: idOf(runs, job.repo_id, job.run_id),
        result: classify(job.conclusion, RESULT, ''),
        status: classify(job.status, STATUS, 'OTHER'),
        original_status: job.status,
        original_result: job.conclusion,
        type,
        environment,
        duration_sec: wholeSeconds(job.started_at, job.completed_at),
        created_date: job.started_at,
        started_date: job.started_at,
        finished_date: job.completed_at,
        cicd_scope_id: idOf(repos, job.repo_id),
      })
    },
  },
})
