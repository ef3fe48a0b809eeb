import { bigint, common, defineTable, key, string } from '../../database/table.ts'

/** One of DevLake's tables, which is empty there too. The build that triggered another is in its `triggered_by`. */
export const jobDags = defineTable(
  '_tool_jenkins_job_dags',
  {
    connetion_id: key(bigint()), // DevLake's spelling
    upstream_job: key(string()),
    downstream_job: key(string()),
    ...common,
  },
  { idPrefix: 'jenkins:JenkinsJobDag', meaning: 'Which job triggers which; kept for readers that expect it.' },
)
