import type { RawRecord } from '../../database/table.ts'
import { bigint, boolean, double, indexed, key, type RowOf, string, text, timestamp } from '../../database/table.ts'
import { offset, type Paging, pluginKit } from '../../plugin-kit/index.ts'
import type { rules } from './rules.ts'

const kit = pluginKit('bamboo')

export const plans = kit.table('plans', 'BambooPlan', {
  plan_key: key(string(191)),
  scope_config_id: bigint(() => 0),
  name: text(),
  expand: text(),
  project_key: indexed(string(191)),
  project_name: text(),
  description: text(),
  short_name: text(),
  build_name: text(),
  short_key: text(),
  type: text(),
  enabled: boolean(),
  href: text(),
  rel: text(),
  is_favourite: boolean(),
  is_active: boolean(),
  is_building: boolean(),
  average_build_time_in_seconds: double(),
})
export type Plan = RowOf<typeof plans>
type Rules = ReturnType<typeof rules>

export interface RulesContext {
  readonly scopeConfig: Rules
}

export const table = kit.tableMaker<Plan, Rules>()
export const entity = kit.entityMaker<Plan, Rules>({ scopeColumn: 'plan_key', scopeKey: 'plan_key' })

/** Columns that results of plans and of jobs share. */
export const resultColumns = {
  expand: text(),
  number: bigint(),
  build_number: bigint('buildNumber'),
  build_result_key: text('buildResultKey'),
  life_cycle_state: text('lifeCycleState'),
  build_started_time: timestamp('buildStartedTime'),
  pretty_build_started_time: text('prettyBuildStartedTime'),
  build_completed_time: timestamp('buildCompletedTime'),
  build_completed_date: timestamp('buildCompletedDate'),
  pretty_build_completed_time: text('prettyBuildCompletedTime'),
  build_duration_in_seconds: bigint('buildDurationInSeconds'),
  build_duration: bigint('buildDuration'),
  build_duration_description: text('buildDurationDescription'),
  build_relative_time: text('buildRelativeTime'),
  vcs_revision_key: text('vcsRevisionKey'),
  build_test_summary: text('buildTestSummary'),
  successful_test_count: bigint('successfulTestCount'),
  failed_test_count: bigint('failedTestCount'),
  quarantined_test_count: bigint('quarantinedTestCount'),
  skipped_test_count: bigint('skippedTestCount'),
  continuable: boolean(),
  once_off: boolean('onceOff'),
  restartable: boolean(),
  not_run_yet: boolean('notRunYet'),
  finished: boolean(),
  successful: boolean(),
  build_reason: text('buildReason'),
  reason_summary: text('reasonSummary'),
  state: text(),
  build_state: text('buildState'),
}

/** The rights of the account on an environment or a deployment. */
export const rightColumns = {
  can_view: boolean('operations.canView'),
  can_edit: boolean('operations.canEdit'),
  can_delete: boolean('operations.canDelete'),
  allowed_to_execute: boolean('operations.allowedToExecute'),
  can_execute: boolean('operations.canExecute'),
  allowed_to_create_version: boolean('operations.allowedToCreateVersion'),
  allowed_to_set_version_status: boolean('operations.allowedToSetVersionStatus'),
}

// https://developer.atlassian.com/server/bamboo/rest/
export const inPages = (total: (body: RawRecord) => number | undefined) =>
  offset({ size: 100, offsetParam: 'start-index', sizeParam: 'max-results', total: ({ body }) => total(body) })

/** Reads one page after the other. A numbered list must be read from its beginning to know how much of it is collected. */
export function inOrder({ ahead: _, ...paging }: Paging): Paging {
  return paging
}

/** Newest first, including those that are running. */
export const resultList = (planOrJob: string) => ({
  path: `result/${encodeURIComponent(planOrJob)}.json`,
  query: { showEmpty: true, includeAllStates: true, expand: 'results.result.vcsRevisions' },
})
export const allResultPages = inPages(({ results }) => results?.size)
export const resultPages = inOrder(allResultPages)
export const resultRecords = ({ results }: RawRecord) => results?.result ?? []

const LAST_MOMENT = 8.64e15
/** A build that waits has no start, so it counts as being in the future, and the list is read again once it has started. */
export const madeAt = (started: string | number | undefined): number =>
  started ? new Date(started).getTime() : LAST_MOMENT

export const RESULT = { SUCCESS: ['SUCCESS', 'Successful'], FAILURE: ['FAILED'] }
export const STATUS = { DONE: ['FINISHED'], IN_PROGRESS: ['IN_PROGRESS', 'InProgress', 'PENDING', 'QUEUED'] }
/** Statuses of results and of deployments, in Bamboo's spellings. */
export const UNFINISHED = ['InProgress', 'Pending', 'Queued', 'IN_PROGRESS', 'PENDING', 'QUEUED']

/** Returns the web address of Bamboo from an address of its API. */
const homeOf = (address: string): string => (address.split('/rest/', 1)[0] as string).replace(/\/$/, '')
export const browseUrl = (address: string, what: string): string => (address ? `${homeOf(address)}/browse/${what}` : '')

/** Bamboo does not tell the clone address of a repository. So each repository gets an invented address that cannot be a real one. */
export const repositoryUrl = (endpoint: string, repositoryId: number): string =>
  `fake://${new URL(endpoint).host}/repos/${repositoryId}`
