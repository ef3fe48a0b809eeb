import { CATEGORIES, type Report, type Sprint, type Ticket } from './happenings.ts'
import { HOUR, type Teller, WEEK } from './teller.ts'
import { troubleTitle, workTitle } from './words.ts'

const SPRINT = 2 * WEEK
/** Teams that deliver so often do not plan in sprints. */
const MOST_WITH_SPRINTS = 4

export function tellTicket(
  teller: Teller,
  type: Ticket['type'],
  createdAt: number,
  hours: number,
  isOpen = teller.luck.chance(type === 'Incident' ? 0.02 : 0.06),
): string {
  const { luck, service, people, tickets } = teller
  const key = `${teller.key}-${tickets.length + 1}`
  const part = luck.pick(service.parts)
  const doneAt = createdAt + hours * luck.spread() * HOUR
  const isTrouble = type === 'Bug' || type === 'Incident'
  const category = luck.pick(CATEGORIES)
  const epic = tickets.findLast((each) => each.type === 'Epic')?.key
  tickets.push({
    key,
    type,
    createdAt,
    title: isTrouble ? troubleTitle(luck, part) : type === 'Epic' ? epicTitle(part) : workTitle(luck, part),
    priority: type === 'Incident' ? (category === 'Outage' ? 'Highest' : 'High') : luck.pick(['High', 'Medium', 'Low']),
    reporter: luck.pick(people).login,
    assignee: luck.pick(people).login,
    begunAt: createdAt + (doneAt - createdAt) * (type === 'Incident' ? 0.05 : 0.4),
    doneAt: isOpen ? undefined : doneAt,
    ...(type === 'Incident' && { category }),
    ...(type === 'Story' && { points: luck.pick([1, 2, 3, 5, 8]) }),
    ...(type === 'Story' && epic && luck.chance(0.6) && { epic }),
  })
  return key
}

const epicTitle = (part: string) => `New ${part}`

/** An issue that a customer writes. */
export function tellReport(teller: Teller, at: number, delay: number, isOpen = teller.luck.chance(0.15)): void {
  const { luck, service, people, reports } = teller
  const part = luck.pick(service.parts)
  const label = luck.chance(0.6) ? 'bug' : 'question'
  reports.push({
    label,
    at,
    by: luck.pick(people).login,
    title: label === 'bug' ? troubleTitle(luck, part) : `How do I use ${part}?`,
    closedAt: isOpen ? undefined : at + 60 * HOUR * delay * luck.spread(),
  })
}

const endUntil = (until: number, end: number | undefined) => (end !== undefined && end < until ? end : undefined)

/** As they were at the end of the story. */
export const ticketsUntil = (until: number, tickets: readonly Ticket[]): Ticket[] =>
  tickets
    .filter(({ createdAt }) => createdAt < until)
    .map((each) => ({ ...each, doneAt: endUntil(until, each.doneAt) }))

export const reportsUntil = (until: number, reports: readonly Report[]): Report[] =>
  reports
    .filter(({ at }) => at < until)
    .sort((one, other) => one.at - other.at)
    .map((each) => ({ ...each, closedAt: endUntil(until, each.closedAt) }))

export function sprintsOf({ service, begin, until }: Teller): Sprint[] {
  if (service.deploymentsAWeek >= MOST_WITH_SPRINTS) return []
  return Array.from({ length: Math.ceil((until - begin) / SPRINT) }, (_, index) => ({
    name: `${service.title} ${index + 1}`,
    from: begin + index * SPRINT,
    to: begin + (index + 1) * SPRINT,
  }))
}
