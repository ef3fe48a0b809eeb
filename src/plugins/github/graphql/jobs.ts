import type { RawRecord } from '../../../database/table.ts'
import rest from '../entities/jobs.ts'
import { forEachRun } from '../entities/runs.ts'
import { addressOf, inRepo } from '../kit.ts'
import { ask, completion, innerList, nodesIn, nodesQuery, overGraphql, rowsOf } from './kit.ts'

const CHECK_RUN = `id databaseId name status conclusion startedAt completedAt detailsUrl
  steps(first: 100) { nodes { name status conclusion number startedAt completedAt } }`
/** Only the latest attempts, because earlier ones stay in the suite after a re-run. */
const LATEST = ', filterBy: { checkType: LATEST }'

export const query = nodesQuery(
  'CheckSuite',
  `id commit { oid } workflowRun { databaseId } ${innerList('checkRuns', CHECK_RUN, LATEST)}`,
)
export const completions = [completion('CheckSuite', 'checkRuns', CHECK_RUN, LATEST)]

/** In the shape of REST, including the order of its fields. */
const stepOf = (step: RawRecord) => ({
  name: step.name,
  status: step.status?.toLowerCase(),
  conclusion: step.conclusion?.toLowerCase() ?? null,
  number: step.number,
  started_at: step.startedAt,
  completed_at: step.completedAt,
})

/** The jobs of a run are the check runs of its suite. One request reads many suites. */
export default overGraphql(rest, {
  raw: 'github_graphql_jobs',
  collect: {
    forEach: {
      ...forEachRun,
      only: ({ check_suite_node_id }) => check_suite_node_id !== '',
      input: ({ id, check_suite_node_id }) => ({ Id: id, CheckSuiteNodeID: check_suite_node_id }),
      atOnce: () => 25,
    },
    request: (context) => ask(context, query, { ids: context.inputs.map((run) => run.CheckSuiteNodeID) }, true),
    records: ({ data }) => nodesIn(data),
    completes: completions,
  },
  *rows(suite, context) {
    if (!suite.workflowRun) return
    const run = suite.workflowRun.databaseId
    const address = (path: string) => addressOf(context, inRepo(context.scope, path))
    for (const job of nodesIn(suite.checkRuns)) {
      yield* rowsOf(rest)(
        {
          id: job.databaseId,
          run_id: run,
          run_url: address(`actions/runs/${run}`),
          url: address(`actions/jobs/${job.databaseId}`),
          check_run_url: address(`check-runs/${job.databaseId}`),
          node_id: job.id,
          head_sha: suite.commit?.oid,
          html_url: job.detailsUrl,
          status: job.status,
          conclusion: job.conclusion,
          started_at: job.startedAt,
          completed_at: job.completedAt,
          name: job.name,
          steps: nodesIn(job.steps).map(stepOf),
        },
        context,
      )
    }
  },
})
