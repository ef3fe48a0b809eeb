/** Tells the story to the fake Jira: a project and a board for each service, with sprints, stories, bugs and incidents. */
import { type FakeJira, issue, startFakeJira } from '../tests/fake-jira/fake-jira.ts'
import { PRIORITIES, type ServiceStory, type Sprint, type Ticket } from './happenings.ts'
import { PEOPLE } from './organisation.ts'

/** For an incident: the kind of trouble. */
export const CATEGORY_FIELD = 'customfield_10050'
export const POINTS_FIELD = 'customfield_10016'
const TYPES = ['Story', 'Bug', 'Incident', 'Epic', 'Task'].map((name, index) => ({
  id: String(index + 1),
  name,
  subtask: false,
}))
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

export const boardName = (title: string): string => `${title} board`

export async function startJira(stories: readonly ServiceStory[]): Promise<FakeJira> {
  const jira = await startFakeJira()
  for (const { login, email } of PEOPLE) jira.people.set(login, { ...accountOf(login), emailAddress: email })
  jira.types.splice(0, Infinity, ...TYPES)
  jira.statuses.splice(0, Infinity, ...STATUSES)
  jira.fields.push({ id: CATEGORY_FIELD, name: 'Issue category', custom: true })
  jira.issues.splice(0)
  jira.boards.splice(0)
  jira.projects.splice(0)
  for (const [index, story] of stories.entries()) tellBoard(jira, story, index + 1)
  tellImport(jira, stories)
  return jira
}

interface Home {
  readonly project: object
  readonly board: number
  readonly component: string
  readonly sprints: readonly (Sprint & { readonly id: number })[]
}

function tellBoard(jira: FakeJira, { service, key, tickets, sprints }: ServiceStory, board: number): void {
  const project = { id: String(10_000 + board), key, name: service.title }
  jira.projects.push(project)
  jira.boards.push({ id: board, name: boardName(service.title), type: sprints.length > 0 ? 'scrum' : 'kanban' })
  const home: Home = {
    project,
    board,
    component: service.name,
    sprints: sprints.map((sprint) => ({ ...sprint, id: tellSprint(jira, sprint, board) })),
  }
  for (const ticket of tickets) tellTicket(jira, home, ticket)
}

function tellSprint(jira: FakeJira, { name, from, to }: Sprint, board: number): number {
  const sprint = jira.createSprint(name, [board])
  const isOver = to <= Date.now()
  sprint.state = isOver ? 'closed' : 'active'
  const end = new Date(to).toISOString()
  sprint.dates = { startDate: new Date(from).toISOString(), endDate: end, ...(isOver && { completeDate: end }) }
  return sprint.id
}

/** Trouble with data is reported as a task: only its text says that it is an incident, and a rule finds it. */
const typeOf = ({ type, category }: Ticket): string => (category === 'Data' ? 'Task' : type)

function tellTicket(jira: FakeJira, { project, board, component, sprints }: Home, ticket: Ticket): void {
  const id = String(100_000 + jira.issues.length)
  const epic = jira.issues.findLast(({ key }) => key === ticket.epic)
  const made = issue(0, {
    summary: ticket.title,
    project,
    components: [{ id: String(board), name: component }],
    issuetype: TYPES.find(({ name }) => name === typeOf(ticket)),
    status: STATUSES[0],
    ...(typeOf(ticket) !== ticket.type && { description: 'An incident, reported by the people who look after data.' }),
    creator: accountOf(ticket.reporter),
    reporter: accountOf(ticket.reporter),
    priority: { id: String(PRIORITIES.indexOf(ticket.priority) + 1), name: ticket.priority },
    created: timeText(ticket.createdAt),
    updated: timeText(ticket.createdAt),
    ...(ticket.category && { [CATEGORY_FIELD]: { self: 'category', value: ticket.category, id: ticket.category } }),
    ...(ticket.points && { [POINTS_FIELD]: ticket.points }),
    ...(epic && { epic: { id: Number(epic.id), key: epic.key } }),
  })
  jira.issues.push({ ...made, id, key: ticket.key, self: `${jira.url}agile/1.0/issue/${id}` })
  jira.setBoards(id, [board])
  const happens = (moment: number, tell: () => void) => {
    if (moment >= Date.now()) return
    jira.now = () => new Date(moment)
    tell()
  }
  happens(ticket.begunAt, () => {
    jira.setAssignee(id, ticket.assignee)
    jira.setStatus(id, '2')
  })
  if (ticket.type === 'Story' || ticket.type === 'Bug') tellSprints(jira, sprints, id, ticket, happens)
  const { doneAt } = ticket
  if (doneAt !== undefined) happens(doneAt, () => jira.setStatus(id, '3'))
  jira.now = () => new Date()
}

/** Into the sprint in which work on it begins; what is not done by its end goes into the next, once. */
function tellSprints(
  jira: FakeJira,
  sprints: Home['sprints'],
  id: string,
  { begunAt, doneAt = Number.POSITIVE_INFINITY }: Ticket,
  happens: (moment: number, tell: () => void) => void,
): void {
  const index = sprints.findIndex(({ from, to }) => from <= begunAt && begunAt < to)
  const [first, next] = [sprints[index], sprints[index + 1]]
  const enter = (to: Sprint & { id: number }, from?: Sprint & { id: number }) => {
    jira.setSprint(id, to.id)
    const before = { from: from ? String(from.id) : '', fromString: from?.name ?? '' }
    jira.addChange(id, {
      field: 'Sprint',
      fieldId: 'customfield_10020',
      ...before,
      to: String(to.id),
      toString: to.name,
    })
  }
  if (!first) return
  happens(begunAt, () => enter(first))
  if (next && doneAt > first.to) happens(first.to, () => enter(next, first))
}

/** A priority that is no number, left behind by an import from an older tracker. It goes into quarantine. */
function tellImport(jira: FakeJira, [story]: readonly ServiceStory[]): void {
  const found = jira.issues.find(
    ({ key, fields }) => key.startsWith(`${story?.key}-`) && fields.issuetype.name === 'Bug',
  )
  if (found) found.fields.priority = { id: 'P3', name: 'Low' }
}

/** Jira writes offsets without a colon. */
const timeText = (moment: number) => new Date(moment).toISOString().replace('Z', '+0000')
