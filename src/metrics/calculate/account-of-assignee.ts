import { sql } from 'kysely'
import type { Sql } from './calculation.ts'

/**
 * Returns the account of the assignee of an issue, or '' for nobody. DevLake writes two kinds of values into `issues.assignee_id`
 * that match no account. One is the tool's own id: then the account whose id ends with it is in `issue_assignees`. The other is
 * the number 0, for nobody.
 */
export function accountOfAssignee(issue: string): Sql {
  const assignee = sql.ref(`${issue}.assignee_id`)
  return sql`case when right(${assignee}, 2) = ':0' then '' else
    coalesce((select min(assigned.assignee_id) from issue_assignees assigned where assigned.issue_id = ${sql.ref(`${issue}.id`)}
      and right(assigned.assignee_id, char_length(${assignee}) + 1) = concat(':', ${assignee})), ${assignee}) end`
}
