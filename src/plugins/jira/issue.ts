/** The table of issues. It is separate from its entity, because most other entities refer to it. */
import type { RawRecord } from '../../database/table.ts'
import {
  bigint,
  boolean,
  double,
  indexed,
  key,
  optional,
  type RowOf,
  string,
  text,
  timestamp,
  zeroTime,
} from '../../database/table.ts'
import { valueAt } from '../../plugin-kit/index.ts'
import { accountIdOf } from './entities/accounts.ts'
import { onBoard, table } from './kit.ts'
import { plainText } from './plain-text.ts'
import type { Rules } from './rules.ts'

const minutes = (path: string) =>
  bigint((issue) => {
    const seconds = valueAt(issue, path)
    return typeof seconds === 'number' ? Math.trunc(seconds / 60) : undefined
  })
const names = (path: string) =>
  text((issue) => ((valueAt(issue, path) ?? []) as { name: string }[]).map(({ name }) => name).join())

interface RulesContext {
  readonly scopeConfig: Rules
}
interface TypeContext {
  readonly lookups: { readonly types: ReadonlyMap<unknown, { readonly name: string }> }
}

/** The table of types uses the language of the connection, and an issue contains the same name. */
const typeOf = ({ fields }: RawRecord, { lookups }: TypeContext): string =>
  lookups.types.get(fields.issuetype?.id)?.name ?? fields.issuetype?.name ?? ''
const categoryOf = ({ fields }: RawRecord): string => fields.status?.statusCategory?.key ?? ''

function leadTimeMinutes({ fields }: RawRecord): number | undefined {
  const [start, end] = [fields.created, fields.resolutiondate].map((time) => Math.floor(Date.parse(time) / 1000)) as [
    number,
    number,
  ]
  return end >= start ? Math.floor((end - start) / 60) : undefined
}

function storyPoints({ fields }: RawRecord, { scopeConfig }: RulesContext): number {
  const points = fields[scopeConfig.storyPointField]
  return typeof points === 'number' ? points : typeof points === 'string' ? Number(points) || 0 : 0
}

/**
 * Returns the address in the form that boards use, also for epics, which are found by search. So the address of an issue does not
 * depend on the last request that returned it.
 */
const agileAddress = ({ self }: RawRecord): string | undefined =>
  self?.replace(/\/rest\/api\/\w+\/issue\//, '/rest/agile/1.0/issue/')

const OFFSET = /(?:Z|[+-]\d\d:?\d\d)$/i
/** A due date without a time begins at midnight in the time zone in which the issue was created. */
function dueDate({ fields }: RawRecord, { scopeConfig }: RulesContext): Date | undefined {
  const due = fields[scopeConfig.dueDateField]
  if (typeof due !== 'string') return undefined
  const time = due.includes('T') ? due : `${due}T00:00:00`
  const moment = Date.parse(OFFSET.test(time) ? time : `${time}${OFFSET.exec(fields.created)?.[0] ?? 'Z'}`)
  return Number.isNaN(moment) ? undefined : new Date(moment)
}

export const issues = table('issues', 'JiraIssue', {
  issue_id: key(bigint('id')),
  project_id: bigint('fields.project.id'),
  project_name: string('fields.project.name'),
  self: string(agileAddress),
  icon_url: string('fields.issuetype.iconUrl'),
  issue_key: string('key'),
  summary: text('fields.summary'),
  description: text((issue) => plainText(issue.fields.description)),
  type: string(typeOf),
  epic_key: string('fields.epic.key'),
  status_name: string('fields.status.name'),
  status_key: string(categoryOf),
  story_point: optional(double(storyPoints)),
  original_estimate_minutes: optional(minutes('fields.timeoriginalestimate')),
  aggregate_estimate_minutes: minutes('fields.aggregatetimeestimate'),
  remaining_estimate_minutes: minutes('fields.timeestimate'),
  creator_account_id: string((issue) => accountIdOf(issue.fields.creator)),
  creator_account_type: string(() => ''), // never filled by DevLake, and neither is that of the assignee
  creator_display_name: string('fields.creator.displayName'),
  assignee_account_id: string((issue) => accountIdOf(issue.fields.assignee)),
  assignee_account_type: string(() => ''),
  assignee_display_name: string('fields.assignee.displayName'),
  priority_id: bigint('fields.priority.id'),
  priority_name: string('fields.priority.name'),
  parent_id: bigint('fields.parent.id'),
  parent_key: string('fields.parent.key'),
  sprint_id: bigint('fields.sprint.id'),
  sprint_name: string('fields.sprint.name'),
  resolution_date: timestamp('fields.resolutiondate'),
  created: zeroTime(timestamp('fields.created')),
  updated: indexed(zeroTime(timestamp('fields.updated'))),
  spent_minutes: optional(minutes('fields.timespent')),
  comment_total: bigint('fields.comment.total'),
  lead_time_minutes: optional(bigint(leadTimeMinutes)),
  std_type: string((issue, context) => context.scopeConfig.standardType(typeOf(issue, context))),
  std_status: string((issue, context) => context.scopeConfig.standardStatus(typeOf(issue, context), categoryOf(issue))),
  components: names('fields.components'),
  subtask: boolean('fields.issuetype.subtask'),
  changelog_total: bigint('changelog.total'),
  worklog_total: bigint('fields.worklog.total'),
  due_date: timestamp(dueDate),
  fix_versions: names('fields.fixVersions'),
})
type Issue = RowOf<typeof issues>

/** Values of the issue that the records inside it do not have. */
export interface OfIssue {
  readonly issue_id: number
  readonly issue_updated: Date
}

/** For collectors: the board's issues, and in later runs only those that have changed. */
export const eachIssue = (only?: (issue: Issue) => boolean) => ({
  table: issues,
  ...onBoard,
  ...(only && { only }),
  key: ({ issue_id }: Pick<Issue, 'issue_id'>) => issue_id,
  input: ({ issue_id, updated }: Issue) => ({ issue_id, update_time: updated }),
  changedBy: 'updated',
})
/** The input of a record. Records that were included in an issue have no input. */
export type IssueInput = ReturnType<ReturnType<typeof eachIssue>['input']>
interface InputContext {
  readonly input: IssueInput | null
}
export const issueOfInput = (_record: unknown, { input }: InputContext) => input?.issue_id
export const updateOfInput = (_record: unknown, { input }: InputContext) => input?.update_time
