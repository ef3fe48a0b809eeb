import fc from 'fast-check'
import { jira } from '../../../src/plugins/jira/plugin.ts'
import { deliveriesSince, issueStates } from '../../fake-jira/deliveries.ts'
import { type FakeJira, startFakeJira, USER } from '../../fake-jira/fake-jira.ts'
import { behindFaults, pick, type VendorChange, type VendorUnderTest } from '../support/vendor-under-test.ts'

const BOARDS = [5, 6, 7]
const STATUSES = ['1', '2', '3']
const PEOPLE = ['ann', 'bob']
const LABELS = ['red', 'late', 'odd']
const PROJECTS = ['SHOP', 'PAY']

const any = fc.nat(9)
const boards = fc.integer({ min: 0, max: 7 })
const labels = fc.nat(7)

/** docs/convergence.md lists the changes that leave no trace. */
const CHANGES = {
  'create issue': { arguments: [boards, fc.nat(2)] },
  'edit issue': { arguments: [any, any] },
  'set status': { arguments: [any, fc.nat(2)] },
  'set assignee': { arguments: [any, fc.nat(2)] },
  'set labels': { arguments: [any, labels] },
  'set epic': { arguments: [any, any] },
  'delete issue': { arguments: [any], leavesNoTrace: true },
  'delete unnamed issue': { arguments: [any] },
  'move issue': { arguments: [any, fc.nat(1)], leavesNoTrace: true },
  'move unnamed issue': { arguments: [any, fc.nat(1)] },
  'set boards': { arguments: [any, boards] },
  'create sprint': { arguments: [boards] },
  'set sprint': { arguments: [any, fc.nat(3)] },
  'close sprint': { arguments: [any] },
  'rename sprint': { arguments: [any], leavesNoTrace: true },
  'link issues': { arguments: [any, any] },
  'unlink issues': { arguments: [any] },
  'add remote link': { arguments: [any] },
  'delete remote link': { arguments: [any, any] },
  'add comment': { arguments: [any] },
  'edit comment': { arguments: [any, any] },
  'delete comment': { arguments: [any, any] },
  'add worklog': { arguments: [any] },
  'delete worklog': { arguments: [any, any] },
  'rename person': { arguments: [fc.nat(1)], leavesNoTrace: true },
} as const satisfies Record<string, VendorChange>

const chosen = <Thing>(things: readonly Thing[], mask: number) => things.filter((_, index) => mask & (1 << index))
type Apply = (fake: FakeJira, ...numbers: number[]) => void
/** Applies a change to the issue that a number picks. */
const ofIssue =
  (apply: (fake: FakeJira, issue: any, ...numbers: number[]) => void): Apply =>
  (fake, number = 0, ...rest) => {
    const issue = pick(fake.issues, number)
    if (issue) apply(fake, issue, ...rest)
  }

const isNamed = ({ issues, links }: FakeJira, { id }: any): boolean =>
  links.some(({ from, to }) => from === id || to === id) || issues.some(({ fields }) => String(fields.epic?.id) === id)

const APPLY: Record<keyof typeof CHANGES, Apply> = {
  'create issue': (fake, mask = 0, type = 0) =>
    void fake.createIssue({ boards: chosen(BOARDS, mask), fields: { issuetype: fake.types[type] } }),
  'edit issue': ofIssue((fake, { id, fields }, number = 0) =>
    fake.editIssue(id, { summary: `${fields.summary}!`, priority: { name: `Priority ${number}` } }),
  ),
  'set status': ofIssue((fake, { id }, number = 0) => fake.setStatus(id, STATUSES[number] as string)),
  'set assignee': ofIssue((fake, { id }, number = 0) => fake.setAssignee(id, PEOPLE[number] ?? null)),
  'set labels': ofIssue((fake, { id }, mask = 0) => fake.setLabels(id, chosen(LABELS, mask))),
  'set epic': ofIssue((fake, { id }, number = 0) => {
    const epic = pick([null, ...fake.issues.filter(({ fields }) => fields.issuetype.name === 'Epic')], number)
    if (epic?.id !== id) fake.setEpic(id, epic?.id ?? null)
  }),
  'delete issue': ofIssue((fake, { id }) => fake.deleteIssue(id)),
  'delete unnamed issue': ofIssue((fake, issue) => isNamed(fake, issue) || fake.deleteIssue(issue.id)),
  'move issue': ofIssue((fake, { id }, number = 0) => fake.moveToProject(id, PROJECTS[number] as string)),
  'move unnamed issue': ofIssue(
    (fake, issue, number = 0) => isNamed(fake, issue) || fake.moveToProject(issue.id, PROJECTS[number] as string),
  ),
  'set boards': ofIssue((fake, { id }, mask = 0) => fake.setBoards(id, chosen(BOARDS, mask))),
  'create sprint': (fake, mask = 0) =>
    void fake.createSprint(`Sprint ${fake.sprints.length}`, chosen(BOARDS, mask || 1)),
  'set sprint': ofIssue((fake, { id }, number = 0) =>
    fake.setSprint(id, pick([null, ...fake.sprints], number)?.id ?? null),
  ),
  'close sprint'(fake, number = 0) {
    const sprint = pick(fake.sprints, number)
    if (sprint) fake.closeSprint(sprint.id)
  },
  'rename sprint'(fake, number = 0) {
    const sprint = pick(fake.sprints, number)
    if (sprint) fake.renameSprint(sprint.id, `${sprint.name}!`)
  },
  'link issues': ofIssue((fake, { id }, number = 0) => {
    const other = pick(fake.issues, number)
    if (other && other.id !== id) fake.linkIssues(id, other.id)
  }),
  'unlink issues'(fake, number = 0) {
    const link = pick(fake.links, number)
    if (link) fake.unlinkIssues(link.id)
  },
  'add remote link': ofIssue((fake, { id }) => void fake.addRemoteLink(id, `https://git.example/shop/commit/${SHA}`)),
  'delete remote link': ofIssue((fake, { id }, number = 0) => {
    const link = pick(fake.remoteLinks.get(id) ?? [], number)
    if (link) fake.deleteRemoteLink(id, link.id)
  }),
  'add comment': ofIssue((fake, { id }) => void fake.addComment(id)),
  'edit comment': ofIssue((fake, { id, fields }, number = 0) => {
    const comment = pick<any>(fields.comment?.comments ?? [], number)
    if (comment) fake.editComment(id, comment.id, `${comment.body}!`)
  }),
  'delete comment': ofIssue((fake, { id, fields }, number = 0) => {
    const comment = pick<any>(fields.comment?.comments ?? [], number)
    if (comment) fake.deleteComment(id, comment.id)
  }),
  'add worklog': ofIssue((fake, { id }) => void fake.addWorklog(id)),
  'delete worklog': ofIssue((fake, { id, fields }, number = 0) => {
    const worklog = pick<any>(fields.worklog?.worklogs ?? [], number)
    if (worklog) fake.deleteWorklog(id, worklog.id)
  }),
  'rename person'(fake, number = 0) {
    const id = PEOPLE[number] as string
    fake.renamePerson(id, `${fake.people.get(id).displayName}!`)
  },
}
const SHA = '0123456789abcdef0123456789abcdef01234567'

export const jiraVendor: VendorUnderTest = {
  name: 'jira',
  interfaces: [jira],
  scopes: BOARDS.map((id) => ({ options: { boardId: id }, row: { board_id: id, name: `Board ${id}` } })),
  rules: [
    { remotelink_commit_sha_pattern: '/commit/([0-9a-f]{40})' },
    { type_mappings: { Story: { standardType: 'INCIDENT' } }, remotelink_commit_sha_pattern: '/commit/([0-9a-f]{40})' },
    { type_mappings: { Bug: { standardType: 'BUG' } } },
    { type_mappings: { Bug: { standardType: 'BUG' } }, issue_text_incident: '[2-5]' },
  ],
  lists: ['/issue?', '/sprint', '/comment', '/remotelink', '/status', '/field', '/user', '/issuetype', 'board/5/'],
  changes: CHANGES,
  start: (now) =>
    behindFaults({
      async begin() {
        const fake = await startFakeJira()
        fake.now = () => new Date(now())
        fake.issues.length = 0
        for (let number = 0; number < 5; number++) APPLY['create issue'](fake, (number % 7) + 1, number % 3)
        fake.createSprint('First sprint', [5, 6])
        APPLY['set sprint'](fake, 0, 1)
        APPLY['set epic'](fake, 1, 1)
        APPLY['add comment'](fake, 1)
        APPLY['add worklog'](fake, 3)
        return fake
      },
      connection: (url) => ({ endpoint: `${url}rest/`, auth_method: 'BasicAuth', ...USER }),
      change(fake, name, parameters, { send }) {
        const before = issueStates(fake)
        APPLY[name as keyof typeof CHANGES](fake, ...parameters)
        for (const each of deliveriesSince(fake, before)) send(each)
      },
    }),
}
