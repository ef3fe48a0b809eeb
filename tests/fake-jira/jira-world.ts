/**
 * The data of the fake Jira, and the changes that people make while it runs. Issues are named by id or key.
 *
 * An issue is on the boards that `onBoards` names for it. Without an entry it is on every board.
 *
 * As in Jira, an operation sets `updated` of the issues that it is about. The following operations leave no trace in other
 * issues, nor on boards that no longer show the issue, so a query for updated issues does not find their effects:
 * - deleteIssue: links to the issue, and the epic of its children, are gone
 * - moveToProject: links, children and subtasks show its new key
 * - setBoards: boards change with filters and with sprints
 * - renameSprint, renamePerson: wherever they are named
 *
 * An operation whose name ends in `silently` changes data as an app may, without touching `updated` at all.
 */

export const PROJECT = { id: '10000', key: 'SHOP', name: 'Shop' }
export const ANN = { accountId: 'ann', displayName: 'Ann', active: true, avatarUrls: {} }
const BOB = { accountId: 'bob', displayName: 'Bob', active: true, avatarUrls: {} }
const STATUSES = [
  { id: '1', name: 'Open', statusCategory: { key: 'new' } },
  { id: '2', name: 'Doing', statusCategory: { key: 'indeterminate' } },
  { id: '3', name: 'Done', statusCategory: { key: 'done' } },
]
const TYPES = [
  { id: '1', name: 'Story', subtask: false },
  { id: '2', name: 'Bug', subtask: false },
  { id: '3', name: 'Epic', subtask: false },
]

export interface Sprint {
  readonly id: number
  name: string
  state: 'future' | 'active' | 'closed'
  dates?: { readonly startDate: string; readonly endDate: string; readonly completeDate?: string }
  /** Boards that show the sprint. It was made on the first. */
  readonly boards: number[]
}
interface Link {
  readonly id: string
  readonly from: string
  readonly to: string
}

export const issue = (number: number, fields: object = {}): any => ({
  id: String(10_000 + number),
  key: `SHOP-${number}`,
  self: `https://example.atlassian.net/rest/agile/1.0/issue/${10_000 + number}`,
  fields: {
    summary: `Issue ${number}`,
    created: '2024-03-01T09:00:00.000+0000',
    updated: '2024-03-02T09:00:00.000+0000',
    issuetype: TYPES[0],
    status: { name: 'Open', statusCategory: { key: 'new' } },
    project: PROJECT,
    creator: ANN,
    ...fields,
  },
})

/** Jira writes offsets without a colon. */
const timeText = (time: Date) => time.toISOString().replace('Z', '+0000')

export type JiraWorld = ReturnType<typeof createJiraWorld>
export function createJiraWorld() {
  const world = {
    /** The server's clock, which dates events and answers. */
    now: () => new Date(),
    /** Issues in the order of board lists. All comments, worklogs and changes are here, and only answers cut them. */
    issues: [issue(1), issue(2), issue(3)] as any[],
    onBoards: new Map<string, Set<number>>(),
    projects: [PROJECT, { id: '10001', key: 'PAY', name: 'Payments' }],
    statuses: STATUSES as any[],
    types: [...TYPES] as any[],
    people: new Map<string, any>([
      ['ann', { ...ANN, emailAddress: 'ann@example.org' }],
      ['bob', { ...BOB, emailAddress: 'bob@example.org' }],
    ]),
    sprints: [] as Sprint[],
    links: [] as Link[],
    remoteLinks: new Map<string, any[]>(),
  }
  let last = 20_000
  const nextId = () => String(++last)

  const find = (name: string): any => {
    // Search from the end, because new issues are there and are needed most.
    const found = world.issues.findLast(({ id, key }) => id === name || key === name)
    if (!found) throw new Error(`The fake Jira has no issue ${name}`)
    return found
  }
  const touch = (...names: string[]) => {
    for (const name of names) find(name).fields.updated = timeText(world.now())
  }
  const listIn = (name: string, field: 'comment' | 'worklog', list: 'comments' | 'worklogs'): any[] => {
    const { fields } = find(name)
    fields[field] ??= {}
    fields[field][list] ??= []
    return fields[field][list]
  }
  const changesOf = (name: string): any[] => {
    const found = find(name)
    found.changelog ??= { histories: [] }
    return found.changelog.histories
  }
  const remove = (list: any[], id: string) => {
    const index = list.findIndex((each) => String(each.id) === String(id))
    if (index < 0) throw new Error(`The fake Jira has no ${id} there`)
    list.splice(index, 1)
  }

  function addChange(name: string, item: object, author: object = ANN): any {
    const change = { id: nextId(), author, created: timeText(world.now()), items: [{ fieldtype: 'jira', ...item }] }
    changesOf(name).push(change)
    touch(name)
    return change
  }

  const editIssue = (name: string, fields: object) => {
    Object.assign(find(name).fields, fields)
    touch(name)
  }
  const addRemoteLinkSilently = (name: string, url: string): any => {
    const link = { id: Number(nextId()), self: `${url}#self`, object: { title: url, url } }
    const { id } = find(name)
    world.remoteLinks.set(id, [...(world.remoteLinks.get(id) ?? []), link])
    return link
  }

  const issueOperations = {
    createIssue({
      project = 'SHOP',
      boards,
      fields = {},
    }: {
      project?: string
      boards?: number[]
      fields?: object
    } = {}) {
      const number = Number(nextId())
      const made = issue(number - 10_000, fields)
      const time = timeText(world.now())
      Object.assign(made, { id: String(number), key: `${project}-${number}` })
      made.fields.project = world.projects.find(({ key }) => key === project)
      Object.assign(made.fields, { created: time, updated: time, ...fields })
      world.issues.push(made)
      if (boards) world.onBoards.set(made.id, new Set(boards))
      return made
    },
    editIssue,
    setStatus(name: string, statusId: string) {
      const { fields } = find(name)
      const to = world.statuses.find(({ id }) => id === statusId)
      const { id: from, name: fromString } = fields.status
      addChange(name, { field: 'status', fieldId: 'status', from, fromString, to: to.id, toString: to.name })
      fields.status = to
      fields.resolutiondate = to.statusCategory.key === 'done' ? timeText(world.now()) : null
    },
    setAssignee(name: string, accountId: string | null) {
      const { fields } = find(name)
      const to = accountId ? world.people.get(accountId) : null
      const [from, fromString] = [fields.assignee?.accountId ?? null, fields.assignee?.displayName ?? null]
      const item = { from, fromString, to: accountId, toString: to?.displayName ?? null }
      addChange(name, { field: 'assignee', fieldId: 'assignee', ...item })
      fields.assignee = to
    },
    setLabels: (name: string, labels: string[]) => editIssue(name, { labels }),
    /** `null` removes the issue from its epic. */
    setEpic(name: string, epic: string | null) {
      const to = epic ? find(epic) : null
      editIssue(name, { epic: to && { id: Number(to.id), key: to.key } })
    },
    deleteIssue(name: string) {
      const { id } = find(name)
      for (const { fields } of world.issues) if (String(fields.epic?.id) === id) fields.epic = null
      world.links.splice(0, Infinity, ...world.links.filter(({ from, to }) => from !== id && to !== id))
      world.remoteLinks.delete(id)
      world.onBoards.delete(id)
      remove(world.issues, id)
    },
    moveToProject(name: string, projectKey: string) {
      const found = find(name)
      const project = world.projects.find(({ key }) => key === projectKey)
      const before = found.key
      found.fields.project = project
      found.key = `${projectKey}-${nextId()}`
      addChange(found.id, { field: 'Key', fromString: before, toString: found.key })
    },
    setBoards: (name: string, boards: number[]) => void world.onBoards.set(find(name).id, new Set(boards)),
  }

  const sprintOperations = {
    createSprint(name: string, boards: number[]): Sprint {
      const sprint: Sprint = { id: Number(nextId()), name, state: 'active', boards }
      world.sprints.push(sprint)
      return sprint
    },
    /** `null` moves the issue to the backlog. A closed sprint stays among the earlier sprints of the issue. */
    setSprint(name: string, sprintId: number | null) {
      const { fields } = find(name)
      fields.sprintIds = [
        ...(fields.sprintIds ?? []).filter((id: number) => sprintOf(id)?.state === 'closed' && id !== sprintId),
        ...(sprintId === null ? [] : [sprintId]),
      ]
      touch(name)
    },
    closeSprint(id: number) {
      const sprint = sprintOf(id)
      if (sprint) sprint.state = 'closed'
      for (const each of world.issues) if (each.fields.sprintIds?.includes(id)) touch(each.id)
    },
    renameSprint(id: number, name: string) {
      const sprint = sprintOf(id)
      if (sprint) sprint.name = name
    },
  }
  const sprintOf = (id: number) => world.sprints.find((each) => each.id === id)

  const linkOperations = {
    linkIssues(from: string, to: string): Link {
      const link = { id: nextId(), from: find(from).id, to: find(to).id }
      world.links.push(link)
      touch(from, to)
      return link
    },
    unlinkIssues(linkId: string) {
      const { from, to } = world.links.find(({ id }) => id === linkId) as Link
      remove(world.links, linkId)
      touch(from, to)
    },
    addRemoteLinkSilently,
    addRemoteLink(name: string, url: string): any {
      touch(name)
      return addRemoteLinkSilently(name, url)
    },
    deleteRemoteLink(name: string, linkId: number) {
      remove(world.remoteLinks.get(find(name).id) ?? [], String(linkId))
      touch(name)
    },
  }

  const textOperations = {
    addComment(name: string, body: unknown = 'A comment', author: object = ANN): any {
      const time = timeText(world.now())
      const comment = {
        id: nextId(),
        self: 'https://example.atlassian.net/comment',
        author,
        body,
        created: time,
        updated: time,
      }
      listIn(name, 'comment', 'comments').push(comment)
      touch(name)
      return comment
    },
    editComment(name: string, commentId: string, body: unknown) {
      const comment = listIn(name, 'comment', 'comments').find(({ id }) => id === commentId)
      Object.assign(comment, { body, updated: timeText(world.now()) })
      touch(name)
    },
    deleteComment(name: string, commentId: string) {
      remove(listIn(name, 'comment', 'comments'), commentId)
      touch(name)
    },
    addWorklog(name: string, timeSpentSeconds = 3600, author: object = ANN): any {
      const time = timeText(world.now())
      const people = { author, updateAuthor: author }
      const worklog = {
        id: nextId(),
        issueId: find(name).id,
        ...people,
        timeSpentSeconds,
        started: time,
        updated: time,
      }
      listIn(name, 'worklog', 'worklogs').push(worklog)
      touch(name)
      return worklog
    },
    deleteWorklog(name: string, worklogId: string) {
      remove(listIn(name, 'worklog', 'worklogs'), worklogId)
      touch(name)
    },
    addChange,
    /** Users cannot do this, but an import or an administrator can. */
    deleteChange(name: string, changeId: string) {
      remove(changesOf(name), changeId)
      touch(name)
    },
    renamePerson: (accountId: string, displayName: string) =>
      void Object.assign(world.people.get(accountId), { displayName }),
  }
  return Object.assign(world, { ...issueOperations, ...sprintOperations, ...linkOperations, ...textOperations })
}
