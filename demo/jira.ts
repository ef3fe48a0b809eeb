/** Tells the story to the fake Jira: a project and a board for each service, with stories, bugs and incidents. */
import { type FakeJira, issue, startFakeJira } from '../tests/jira/fake-jira.ts'
import { PEOPLE } from './organisation.ts'
import type { ServiceStory, Ticket } from './story.ts'

/** Of an incident: what kind of trouble it was. */
export const CATEGORY_FIELD = 'customfield_10050'
const POINTS_FIELD = 'customfield_10016'
const TYPES = ['Story', 'Bug', 'Incident'].map((name, index) => ({ id: String(index + 1), name, subtask: false }))
const STATUSES = [
  { id: '1', name: 'Open', statusCategory: { key: 'new' } },
  { id: '2', name: 'In progress', statusCategory: { key: 'indeterminate' } },
  { id: '3', name: 'Done', statusCategory: { key: 'done' } },
]
const accountOf = (login: string) => ({
  accountId: login,
  displayName: PEOPLE.find((person) => person.login === login)?.name ?? login,
  active: true,
  avatarUrls: {},
})

export async function startJira(stories: readonly ServiceStory[]): Promise<FakeJira> {
  const jira = await startFakeJira()
  for (const { login, email } of PEOPLE) jira.people.set(login, { ...accountOf(login), emailAddress: email })
  jira.types.splice(0, Infinity, ...TYPES)
  jira.statuses.splice(0, Infinity, ...STATUSES)
  jira.fields.push({ id: CATEGORY_FIELD, name: 'Issue category', custom: true })
  jira.issues.splice(0)
  jira.boards.splice(0)
  jira.projects.splice(0)
  stories.forEach(({ service, key, tickets }, index) => {
    const project = { id: String(10_000 + index), key, name: service.title }
    const board = index + 1
    jira.projects.push(project)
    jira.boards.push({ id: board, name: `${service.title} board`, type: 'kanban' })
    for (const ticket of tickets) tellTicket(jira, { project, board, component: service.name }, ticket)
  })
  return jira
}

interface Home {
  readonly project: object
  readonly board: number
  readonly component: string
}

function tellTicket(jira: FakeJira, { project, board, component }: Home, ticket: Ticket): void {
  const id = String(100_000 + jira.issues.length)
  const made = issue(0, {
    ...{ summary: ticket.title, project, components: [{ id: String(board), name: component }] },
    ...{ issuetype: TYPES.find(({ name }) => name === ticket.type), status: STATUSES[0] },
    ...{ creator: accountOf(ticket.reporter), reporter: accountOf(ticket.reporter) },
    created: timeText(ticket.createdAt),
    updated: timeText(ticket.createdAt),
    ...(ticket.category && { [CATEGORY_FIELD]: { self: 'category', value: ticket.category, id: ticket.category } }),
    ...(ticket.points && { [POINTS_FIELD]: ticket.points }),
  })
  jira.issues.push({ ...made, id, key: ticket.key, self: `${jira.url}agile/1.0/issue/${id}` })
  jira.setBoards(id, [board])
  const happens = (moment: number, tell: () => void) => {
    jira.now = () => new Date(moment)
    tell()
  }
  if (ticket.begunAt < Date.now()) {
    happens(ticket.begunAt, () => {
      jira.setAssignee(id, ticket.assignee)
      jira.setStatus(id, '2')
    })
  }
  const { doneAt } = ticket
  if (doneAt !== undefined) happens(doneAt, () => jira.setStatus(id, '3'))
  jira.now = () => new Date()
}

/** Jira writes offsets without a colon. */
const timeText = (moment: number) => new Date(moment).toISOString().replace('Z', '+0000')
