import { sql } from 'kysely'
import type { Metric } from '../metric.ts'
import { recoveryMinutes, serviceIncidents } from '../service/service-incidents.ts'

export const serviceRecoveryTime: Metric = {
  name: 'service-recovery-time',
  title: 'Recovery time of the service',
  definition:
    'Mean minutes that the chosen incidents took, by date of creation: lead_time_minutes if the tool reports it, otherwise the ' +
    'whole minutes from created_date to updated_date, as for an incident that is not resolved. Chosen are incidents created in ' +
    'the range by their x_issue_category and component.',
  unit: 'minutes',
  better: 'lower',
  summary: 'mean',
  madeOf: ['incidents'],
  isOfService: true,
  items: (query) => {
    const minutes = recoveryMinutes(query)
    return serviceIncidents(query, {
      value: minutes,
      reasons: [
        ['no_duration', sql`${minutes} is null`],
        ['clock_backwards', sql`${minutes} < 0`],
      ],
    })
  },
}
