import type { Database } from '../core.ts'
import type { Plan } from '../model/plan.ts'
import type { SwitchRow } from './store.ts'

/**
 * A finished switch is a deployment of its project, so that it counts in frequency and change failure rate. The rows
 * can be rebuilt from `_weir_traffic_switches` at any time.
 */
export async function recordDeployment(
  { kysely }: Database,
  row: SwitchRow,
  plan: Plan,
  result: 'SUCCESS' | 'FAILURE',
  finished: Date,
): Promise<void> {
  const began = row.began_at ?? row.created_at
  const now = new Date()
  const scopeId = `weir:TrafficSwitch:${plan.project}`
  const id = `weir:TrafficSwitch:${row.id}:${began.getTime()}`
  const common = {
    created_at: now,
    updated_at: now,
    _raw_data_params: '',
    _raw_data_table: '_weir_traffic_switches',
    _raw_data_id: 0,
    _raw_data_remark: row.id,
  }
  const deployment = {
    id,
    cicd_scope_id: scopeId,
    name: `traffic switch ${plan.name}`,
    display_title: `${plan.current.cluster} → ${plan.target.cluster}`,
    url: '',
    result,
    status: 'DONE',
    original_status: 'DONE',
    original_result: result === 'SUCCESS' ? 'switched' : 'rolled-back',
    environment: plan.environment,
    original_environment: plan.target.cluster,
    subtask_name: '',
    created_date: row.created_at,
    queued_date: row.created_at,
    started_date: began,
    finished_date: finished,
    duration_sec: (finished.getTime() - began.getTime()) / 1000,
    queued_duration_sec: null,
  }
  const commit = { commit_sha: plan.commit?.sha ?? '', repo_url: plan.commit?.repoUrl ?? '', cicd_deployment_id: id }
  const details = { commit_msg: '', ref_name: '', repo_id: '', prev_success_deployment_commit_id: '' }
  const mapping = { project_name: plan.project, table: 'cicd_scopes', row_id: scopeId }
  const scope = {
    id: scopeId,
    name: `traffic switches of ${plan.project}`,
    description: '',
    url: '',
    created_date: began,
    updated_date: now,
  }
  await kysely.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('cicd_deployments').where('id', '=', id).execute()
    await transaction.deleteFrom('cicd_deployment_commits').where('id', '=', id).execute()
    await transaction.deleteFrom('cicd_scopes').where('id', '=', scopeId).execute()
    await transaction.deleteFrom('project_mapping').where('row_id', '=', scopeId).execute()
    await transaction
      .insertInto('cicd_deployments')
      .values({ ...deployment, ...common })
      .execute()
    await transaction
      .insertInto('cicd_deployment_commits')
      .values({ ...deployment, ...commit, ...details, ...common })
      .execute()
    await transaction
      .insertInto('cicd_scopes')
      .values({ ...scope, ...common })
      .execute()
    await transaction
      .insertInto('project_mapping')
      .values({ ...mapping, ...common })
      .execute()
  })
}
