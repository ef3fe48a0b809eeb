import { sql } from 'kysely'
import type { Sql } from './calculation.ts'

/**
 * The account of the assignee of an issue. `issues.assignee_id` may hold the tool's own id, as DevLake writes it, which joins
 * no account; then the account whose id ends with it is among `issue_assignees`. Otherwise what the issue says.
 */
export function accountOfAssignee(issue: string): Sql {
  const assignee = sql.ref(`${issue}.assignee_id`)
  return sql`coalesce((select min(assigned.assignee_id) from issue_assignees assigned where assigned.issue_id = ${sql.ref(`${issue}.id`)}
    and right(assigned.assignee_id, char_length(${assignee}) + 1) = concat(':', ${assignee})), ${assignee})`
}
