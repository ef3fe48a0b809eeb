import type { Database } from '../../database/database.ts'
import { writeRollouts } from '../../metrics/calculate/rollouts.ts'
import { type Policy, policyOf } from '../../metrics/policy/policy.ts'
import { requireRules } from '../../metrics/policy/rollout-rules.ts'
import { FOUR_KEYS } from '../../plugins/index.ts'
import { projectMetricSettings } from '../../system/projects.ts'
import { metricOption } from '../plan/metric-plans.ts'
import { findRow, type Queries } from '../store.ts'

/** The `policy` in the options of a project for its four keys. */
const policyIn = (option: unknown): Policy => policyOf((metricOption(option).policy ?? {}) as Record<string, unknown>)

export async function policyOfProject({ kysely }: Pick<Database, 'kysely'>, project: string): Promise<Policy> {
  const stored = await findRow(kysely, projectMetricSettings, { project_name: project, plugin_name: FOUR_KEYS })
  return policyIn(stored?.plugin_option)
}

/** Refuses rules about rollouts that can never be followed. */
export async function requirePolicy(queries: Queries, plugin: string, option: unknown): Promise<void> {
  if (plugin === FOUR_KEYS) await requireRules(queries, policyIn(option).rolloutRules ?? [])
}

/**
 * Writes the rollouts again when the policy changed them. SQL from outside Weir reads them, so a new policy must apply at once
 * and not only after a run.
 */
export async function followPolicy(database: Database, project: string, before: Policy): Promise<void> {
  const policy = await policyOfProject(database, project)
  const partOf = ({ rollouts, rolloutRules }: Policy) => JSON.stringify([rollouts, rolloutRules])
  if (partOf(policy) !== partOf(before)) await writeRollouts(database, project, policy)
}
