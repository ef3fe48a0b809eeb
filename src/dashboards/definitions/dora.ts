import { sql } from 'kysely'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { changeFailureRate } from '../../metrics/definitions/change-failure-rate.ts'
import { changeLeadTime } from '../../metrics/definitions/change-lead-time.ts'
import { deploymentFrequency } from '../../metrics/definitions/deployment-frequency.ts'
import { recoveryTime } from '../../metrics/definitions/recovery-time.ts'
import { timeToRestore } from '../../metrics/definitions/time-to-restore.ts'
import { isWithoutHistory } from '../../metrics/findings/without-history.ts'
import type { Dashboard, PanelQuery } from '../dashboard.ts'
import { gradesPanel } from '../grades.ts'
import { numberPanel, seriesPanel } from '../panels.ts'
import { projectDeployments } from '../populations.ts'
import { isInRange } from '../statements.ts'
import { INTERVAL, PROJECT, REPORT } from '../variables.ts'

/** Counts the project's rows in the range from which the key metrics are calculated. */
const materials = (query: PanelQuery): Sql => {
  const project = query.variable('project')
  const table = sql.id('table')
  const deployments = projectDeployments(query)
  const scoped = (
    name: string,
    kind: string,
    moment: string,
    join: Sql,
  ) => sql`select ${sql.lit(name)} as material, count(*) as found,
    max(${sql.ref(moment)}) as latest from project_mapping m ${join} where m.project_name = ${project} and m.${table} = ${sql.lit(kind)}
    and ${isInRange(query, sql.ref(moment))}`
  return sql`${scoped('Pull requests created', 'repos', 'p.created_date', sql`inner join pull_requests p on p.base_repo_id = m.row_id`)}
    union all select 'Deployments finished', count(distinct c.cicd_deployment_id), max(c.finished_date) ${deployments.from}
      where ${deployments.where} and ${isInRange(query, sql`c.finished_date`)}
    union all ${scoped('Builds finished', 'cicd_scopes', 'b.finished_date', sql`inner join cicd_pipelines b on b.cicd_scope_id = m.row_id`)}
    union all select 'Repositories without git history', count(*), max(r.updated_date)
      from project_mapping m inner join repos r on r.id = m.row_id
      where m.project_name = ${project} and m.${table} = 'repos' and ${isWithoutHistory}
    union all ${scoped('Issues created', 'boards', 'i.created_date', sql`inner join board_issues o on o.board_id = m.row_id inner join issues i on i.id = o.issue_id`)}`
}

export const dora: Dashboard = {
  name: 'dora',
  title: 'DORA overview',
  question: 'How fast and how safely does this project deliver, and is it getting better?',
  group: 'Delivery',
  variables: [PROJECT, REPORT, INTERVAL],
  sections: [
    {
      panels: [
        numberPanel(deploymentFrequency),
        numberPanel(changeLeadTime),
        numberPanel(changeFailureRate),
        numberPanel(recoveryTime),
      ],
    },
    { panels: [gradesPanel()] },
    {
      title: 'Over time',
      panels: [
        seriesPanel(deploymentFrequency, { title: 'Deployments' }),
        seriesPanel(changeLeadTime),
        seriesPanel(changeFailureRate),
        seriesPanel(recoveryTime),
        seriesPanel(timeToRestore, { width: 12 }),
        {
          name: 'materials',
          title: 'What the keys are made of',
          definition:
            'How many rows of each kind the project has in the range, and the date of the latest. Without rows of a kind, the keys that need it have no data. Repositories without git history are those with merged pull requests that git could not be read of, at any time: lead times leave their pull requests out.',
          look: 'table',
          columns: {
            material: { title: 'Rows', kind: 'text' },
            found: { title: 'In the range', kind: 'count' },
            latest: { title: 'Latest', kind: 'moment' },
          },
          statement: materials,
          remedy: 'The project has no scopes: add some to its blueprint, and collect.',
        },
      ],
    },
  ],
}
