/** Tables that tell which rows belong to one rollout. They are Weir's own, because those of DevLake have no place for it. */
import { boolean, common, defineTable, indexed, json, key, string, text, timestamp } from '../database/table.ts'

export const deploymentRuns = defineTable(
  '_weir_deployment_runs',
  { deployment_id: key(string()), pipeline_id: key(indexed(string())), ...common },
  { meaning: 'The run of a pipeline that made a deployment, where the tool names it.' },
)

export const rollouts = defineTable(
  '_weir_rollouts',
  {
    project_name: key(string()),
    deployment_id: key(indexed(string())),
    rollout_id: indexed(string()),
    is_counted: boolean(),
    reason: string(100),
    arrived_id: string(),
    arrived_date: timestamp(),
    ...common,
  },
  {
    meaning:
      'Deployments of a project and the rollout that each belongs to: `rollout_id` is the deployment that stands for it, and `reason` says why. `is_counted` is false for rows that the policy of the project leaves out. `arrived_id` and `arrived_date` tell by which deployment, and when, the changes of the row came to its environment.',
  },
)

export const numberChanges = defineTable(
  '_weir_number_changes',
  {
    project_name: key(string()),
    name: key(string(100)),
    at: timestamp(),
    reason: text(),
    keys: json(),
    ...common,
  },
  {
    meaning:
      'Where an update changed numbers of a project that people have seen: since when, why, and the four keys before and after. `at` is empty until the project is calculated the new way.',
  },
)
