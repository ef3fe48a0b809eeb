import { bigint, common, defineTable, key, string } from '../../database/table.ts'

/** Part of the known tables, and as empty as there: a build tells what triggered it in `triggered_by`. */
export const jobDags = defineTable(
  '_tool_jenkins_job_dags',
  {
    connetion_id: key(bigint()), // so spelt in the known tables
    upstream_job: key(string()),
    downstream_job: key(string()),
    ...common,
  },
  { idPrefix: 'jenkins:JenkinsJobDag', meaning: 'Which job triggers which; kept for readers that expect it.' },
)
