/** The answers of the fake Jira: the present form of an issue, and the issues that a query matches. */
import type { JiraWorld, Sprint } from './jira-world.ts'

const LINK_TYPE = { id: '10000', name: 'Blocks', inward: 'is blocked by', outward: 'blocks' }
const MOST_COMMENTS = 100
const MOST_WORKLOGS = 20
const MOST_CHANGES = 100

const cut = (part: any, name: string, most: number) => {
  const all: any[] = part?.[name] ?? []
  return { ...part, maxResults: most, total: Math.max(part?.total ?? 0, all.length), [name]: all.slice(0, most) }
}

/** Returns an issue as in an answer: with present names of other issues, sprints and people, and with long lists cut. */
export function shownIssue(world: JiraWorld, { id, key, self, fields, changelog }: any, asked: readonly string[] = []) {
  if (asked.length > 0 && !asked.includes('*all')) {
    return {
      id,
      key,
      self,
      fields: Object.fromEntries(asked.filter((name) => name in fields).map((name) => [name, fields[name]])),
    }
  }
  const { sprintIds, comment, worklog, epic, parent, ...rest } = fields
  const today = (other: { id: string | number; key: string }) =>
    world.issues.find((each) => each.id === String(other.id)) ?? other
  const sprints = (sprintIds ?? []).map((each: number) =>
    shownSprint(world.sprints.find((sprint) => sprint.id === each)!),
  )
  const current = sprints.find(({ state }: Sprint) => state !== 'closed')
  const links = world.links
    .filter(({ from, to }) => from === id || to === id)
    .map((link) => {
      const { id: otherId, key: otherKey } = today({ id: link.from === id ? link.to : link.from, key: '' })
      const other = { id: otherId, key: otherKey }
      return { id: link.id, type: LINK_TYPE, ...(link.from === id ? { outwardIssue: other } : { inwardIssue: other }) }
    })
  return {
    id,
    key,
    self,
    fields: {
      ...rest,
      ...named(world, rest),
      ...(epic && { epic: { ...epic, key: today(epic).key } }),
      ...(parent && { parent: { ...parent, key: today(parent).key } }),
      ...(sprintIds && { sprint: current ?? null, closedSprints: sprints.filter((each: Sprint) => each !== current) }),
      ...(links.length > 0 && { issuelinks: links }),
      ...(comment && { comment: cut(comment, 'comments', MOST_COMMENTS) }),
      ...(worklog && { worklog: cut(worklog, 'worklogs', MOST_WORKLOGS) }),
    },
    ...(changelog && { changelog: cut(changelog, 'histories', MOST_CHANGES) }),
  }
}

const named = ({ people }: JiraWorld, fields: any) =>
  Object.fromEntries(
    ['creator', 'reporter', 'assignee']
      .filter((name) => fields[name])
      .map((name) => [
        name,
        { ...fields[name], displayName: people.get(fields[name].accountId)?.displayName ?? fields[name].displayName },
      ]),
  )

export const shownSprint = ({ id, name, state, dates, boards: [originBoardId] }: Sprint) => ({
  id,
  name,
  state,
  originBoardId,
  ...dates,
  self: `https://example.atlassian.net/rest/agile/1.0/sprint/${id}`,
})

const ZONED = /updated >= '([^']+)'/
const NAMES = /(?:issue|issuekey|id|key) in \(([^)]*)\)/

/** Supports the JQL that the plugin uses: `updated >=` in whole minutes of the user's zone, and issues by name. */
export function matching(issues: readonly any[], jql: string, timeZone: string): any[] {
  const [, minute] = ZONED.exec(jql) ?? []
  const [, names] = NAMES.exec(jql) ?? []
  const wanted = names === undefined ? undefined : new Set(names.split(',').map((each) => each.trim()))
  const from = minute ? zonedTime(minute, timeZone) : 0
  return issues
    .filter(
      ({ id, key, fields }) => Date.parse(fields.updated) >= from && (!wanted || wanted.has(id) || wanted.has(key)),
    )
    .sort((one, other) => Date.parse(one.fields.created) - Date.parse(other.fields.created) || one.id - other.id)
}

function zonedTime(minute: string, timeZone: string): number {
  const asUtc = Date.parse(`${minute.replaceAll('/', '-').replace(' ', 'T')}:00Z`)
  const shown = new Date(asUtc).toLocaleString('sv-SE', { timeZone })
  return asUtc - (Date.parse(`${shown.replace(' ', 'T')}Z`) - asUtc)
}
