import { type Ground, secondsBetween } from './ground.ts'
import { sha } from './ids.ts'
import type { Comment, Issue, IssueEvent, Label, Milestone } from './records.ts'

const LABEL_NAMES = [
  'bug',
  'feature',
  'incident',
  'priority/high',
  'priority/low',
  'severity/critical',
  'severity/minor',
  'component/api',
  'component/web',
  'type/docs',
  'type/feature',
  'requirement',
]
const DAY = 86_400
/** GitHub allows 65,536 characters in a body. One record of each kind comes close, with characters beyond 16 bits. */
const LONG_BODY = 'A long story 🦫. '.repeat(3530)

export function generateLabel(on: Ground, index: number): Label {
  return {
    ...on.identify('label', index),
    name: LABEL_NAMES[index - 1] ?? `label-${index}`,
    color: on.luck.hex('color', 6, index),
    description: index % 3 === 0 ? '' : `Label number ${index}`,
    createdAt: on.moment(1, 10),
    updatedAt: on.moment(1, 10),
  }
}

export function generateMilestone(on: Ground, index: number): Milestone {
  const createdAt = on.moment(index, on.settings.milestones)
  const closedAt = index % 2 === 0 ? on.later(createdAt, 30 * DAY) : null
  return {
    ...on.identify('milestone', index),
    number: index,
    title: `v${index}.0`,
    description: index % 3 === 0 ? null : `Everything for v${index}.0`,
    state: closedAt === null ? 'open' : 'closed',
    createdAt,
    updatedAt: closedAt ?? createdAt,
    closedAt,
    dueOn: index % 3 === 1 ? on.later(createdAt, 28 * DAY) : null,
    creator: index % 4 === 3 ? null : on.person('milestone creator', index),
  }
}

/** The common part of issues and pull requests. `ordinal` counts within the kind, so that every special case occurs in small worlds too. */
export function generateTicket(on: Ground, kind: 'issue' | 'pull', number: number, ordinal: number): Issue {
  const { luck, settings } = on
  const createdAt = on.moment(number, settings.issues + settings.pullRequests)
  const updatedAt = on.later(createdAt, luck.integer('updated', 3600, 60 * DAY, number))
  const isClosed = luck.chance('closed', 0.75, number)
  const closedAt = isClosed
    ? on.later(
        createdAt,
        Math.floor(secondsBetween(createdAt, updatedAt) * luck.integer('closing', 30, 100, number) * 0.01),
      )
    : null
  const labels = luck.some(
    'labels',
    Array.from({ length: settings.labels }, (_, k) => k + 1),
    number % 4,
    number,
  )
  return {
    ...on.identify(kind, number),
    number,
    title: `${kind === 'pull' ? 'Change' : 'Report'} ${number}: ${luck.pick('title', ['login', 'search', '"quoted"', 'Größe', '搜索'], number)}`,
    body: ordinal === 7 ? LONG_BODY : ordinal % 11 === 2 ? null : bodyOf(on, kind, number),
    state: isClosed ? 'closed' : 'open',
    author:
      ordinal % 23 === 3
        ? null
        : ordinal % 10 === 9
          ? luck.pick('bot', on.people.bots, number)
          : on.person('author', number),
    assignees: luck.some('assignees', on.people.logins, luck.integer('assignee count', 0, 2, number), number),
    labels: labels.map((index) => generateLabel(on, index).name),
    milestone:
      settings.milestones > 0 && number % 3 === 0 ? luck.integer('milestone', 1, settings.milestones, number) : null,
    createdAt,
    updatedAt,
    closedAt,
    closedBy: closedAt === null ? null : on.person('closer', number),
  }
}

function bodyOf(on: Ground, kind: 'issue' | 'pull', number: number): string {
  const text = `Details of ${number}.\r\nSecond line with a tab\tand a \\ backslash.`
  if (kind === 'issue' || on.settings.issues === 0) return text
  const total = on.settings.issues + on.settings.pullRequests
  return `${text}\r\nFixes #${on.luck.integer('fixes', 1, total, number)}`
}

export function generateComment(on: Ground, index: number, ticket: Issue, ordinal: number): Comment {
  const span = secondsBetween(ticket.createdAt, ticket.updatedAt)
  const createdAt = on.later(ticket.createdAt, Math.floor((span * (ordinal + 1)) / 5))
  return {
    ...on.identify('comment', index),
    number: ticket.number,
    author: index % 31 === 4 ? null : on.person('comment author', index),
    body: `Comment ${ordinal + 1} on ${ticket.number}`,
    createdAt,
    updatedAt: on.luck.chance('comment edited', 0.3, index) ? on.later(createdAt, DAY) : createdAt,
  }
}

const EVENTS = ['labeled', 'assigned', 'milestoned', 'renamed', 'referenced', 'mentioned', 'closed'] as const

export function generateEvent(on: Ground, index: number, ticket: Issue, ordinal: number): IssueEvent {
  const span = secondsBetween(ticket.createdAt, ticket.updatedAt)
  const createdAt = on.later(ticket.createdAt, Math.floor((span * (ordinal + 1)) / 6))
  const event = on.luck.pick('event', EVENTS, index)
  return {
    ...on.identify('event', index),
    number: ticket.number,
    event,
    actor: index % 37 === 2 ? null : on.person('event actor', index),
    commitSha: event === 'referenced' ? sha(on.luck, 'branch', on.ordinal, Math.max(1, on.settings.commits)) : null,
    label: event === 'labeled' ? generateLabel(on, 1).name : null,
    assignee: event === 'assigned' ? on.person('event assignee', index) : null,
    createdAt,
    updatedAt: createdAt,
  }
}
