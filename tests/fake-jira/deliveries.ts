/** The deliveries that Jira sends about its issues: https://developer.atlassian.com/cloud/jira/platform/webhooks/ */
import type { FakeJira } from './fake-jira.ts'
import { shownIssue } from './jira-answers.ts'

export interface Delivery {
  readonly event: string
  readonly payload: any
}

/** The platform's form of an issue: without the fields that boards add and the lists that deliveries leave out. */
export function platformIssue(fake: FakeJira, issue: any) {
  const { fields, id, key, self } = shownIssue(fake, issue)
  const { sprint, closedSprints, epic, comment, worklog, ...own } = fields as any
  return JSON.parse(JSON.stringify({ id, key, self, fields: own }))
}

export function updateOf(fake: FakeJira, issue: any, change?: any): Delivery {
  const payload = {
    timestamp: fake.now().getTime(),
    webhookEvent: 'jira:issue_updated',
    user: change?.author,
    issue: platformIssue(fake, issue),
    ...(change && { changelog: { id: change.id, items: change.items } }),
  }
  return { event: 'jira:issue_updated', payload: JSON.parse(JSON.stringify(payload)) }
}

interface Standing {
  readonly updated: string
  readonly changes: number
  readonly worklogs: ReadonlyMap<string, any>
}
export type IssueStates = ReadonlyMap<string, Standing>

const worklogsOf = ({ fields }: any): ReadonlyMap<string, any> =>
  new Map((fields.worklog?.worklogs ?? []).map((each: any) => [String(each.id), each]))

export const issueStates = ({ issues }: FakeJira): IssueStates =>
  new Map(
    issues.map((issue) => [
      issue.id,
      {
        updated: issue.fields.updated,
        changes: issue.changelog?.histories.length ?? 0,
        worklogs: worklogsOf(issue),
      },
    ]),
  )

/** Returns the deliveries about changes since `before`. New issues, boards and sprints send nothing that changes any row. */
export function deliveriesSince(fake: FakeJira, before: IssueStates): Delivery[] {
  return fake.issues.flatMap((issue) => {
    const former = before.get(issue.id)
    if (!former || former.updated === issue.fields.updated) return []
    const histories = issue.changelog?.histories ?? []
    const change = histories.length > former.changes ? histories.at(-1) : undefined
    return [updateOf(fake, issue, change), ...worklogDeliveries(fake, issue, former.worklogs)]
  })
}

function worklogDeliveries(fake: FakeJira, issue: any, before: ReadonlyMap<string, any>): Delivery[] {
  const now = worklogsOf(issue)
  const timestamp = fake.now().getTime()
  const tell = (event: string, worklog: any): Delivery => ({
    event,
    payload: JSON.parse(
      JSON.stringify({ timestamp, webhookEvent: event, worklog: { ...worklog, issueId: String(issue.id) } }),
    ),
  })
  return [
    ...[...now].filter(([id]) => !before.has(id)).map(([, worklog]) => tell('worklog_created', worklog)),
    ...[...before].filter(([id]) => !now.has(id)).map(([, worklog]) => tell('worklog_deleted', worklog)),
  ]
}
