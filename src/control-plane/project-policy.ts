import type { Database } from '../database/database.ts'
import { type Policy, policyOf } from '../metrics/policy.ts'
import { FOUR_KEYS } from '../plugins/index.ts'
import { projectMetricSettings } from '../system/projects.ts'
import { metricOption } from './plan/metric-plans.ts'
import { findRow } from './store.ts'

/** `policy` among the options that the project has for its four keys. */
export async function policyOfProject({ kysely }: Database, project: string): Promise<Policy> {
  const stored = await findRow(kysely, projectMetricSettings, { project_name: project, plugin_name: FOUR_KEYS })
  const { policy } = metricOption(stored?.plugin_option)
  return policyOf((policy ?? {}) as Record<string, unknown>)
}
