/**
 * What happened in eighteen months: a usual year, a bad quarter (a migration of the platform that went wrong), and the
 * recovery, after which teams are better off than before. Plain data; the vendors' fakes are told it afterwards.
 */
import { type Luck, luckOf } from './luck.ts'
import { BOTS, OWNER, type Person, SERVICES, type Service, TEAMS } from './organisation.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const WEEK = 7 * DAY
export const WEEKS = 78
const BAD_FROM = 44
const BAD_UNTIL = 57
const BETTER_FROM = 63

export interface Change {
  readonly title: string
  readonly ticket: string | undefined
  readonly author: string
  readonly reviewers: readonly string[]
  /** Of its commits, the first one first. */
  readonly commits: readonly number[]
  readonly openedAt: number
  readonly reviewedAt: number
  readonly mergedAt: number
  readonly additions: number
  readonly deletions: number
  readonly files: number
  /** How often its build failed before it passed. */
  readonly failedBuilds: number
  readonly buildMinutes: number
}
export interface Deployment {
  readonly at: number
  readonly minutes: number
  readonly isSuccess: boolean
  readonly environment: 'production' | 'staging'
  /** How many changes were merged by then. */
  readonly changes: number
  readonly by: string
}
export type Category = 'Outage' | 'Degradation' | 'Data'
export interface Ticket {
  readonly key: string
  readonly type: 'Story' | 'Bug' | 'Incident'
  readonly title: string
  readonly reporter: string
  readonly assignee: string
  readonly createdAt: number
  readonly begunAt: number
  readonly doneAt: number | undefined
  readonly category?: Category
  readonly points?: number
}
export interface ServiceStory {
  readonly service: Service
  readonly repository: string
  readonly key: string
  readonly changes: readonly Change[]
  readonly deployments: readonly Deployment[]
  readonly tickets: readonly Ticket[]
}

interface Weather {
  readonly pace: number
  readonly delay: number
  readonly failure: number
  readonly recovery: number
}
const USUAL: Weather = { pace: 1, delay: 1, failure: 1, recovery: 1 }
const BAD: Weather = { pace: 0.5, delay: 2.6, failure: 2.8, recovery: 2.4 }
const BETTER: Weather = { pace: 1.35, delay: 0.55, failure: 0.6, recovery: 0.5 }

/** Things get worse at once, and better step by step. */
function weather(week: number): Weather {
  if (week < BAD_FROM) return USUAL
  if (week < BAD_UNTIL) return BAD
  if (week >= BETTER_FROM) return BETTER
  const part = (week - BAD_UNTIL) / (BETTER_FROM - BAD_UNTIL)
  const between = (name: keyof Weather) => BAD[name] + (BETTER[name] - BAD[name]) * part
  return { pace: between('pace'), delay: between('delay'), failure: between('failure'), recovery: between('recovery') }
}

const VERBS = ['Add', 'Fix', 'Speed up', 'Simplify', 'Test', 'Show', 'Cache', 'Validate', 'Translate', 'Log']
const WHY = [
  'for guests',
  'on phones',
  'under load',
  'after a timeout',
  'for business customers',
  'in the new region',
  '',
]
const SYMPTOMS = ['answers slowly', 'shows an error', 'loses entries', 'is unavailable', 'counts twice']
const CATEGORIES: readonly Category[] = ['Outage', 'Degradation', 'Data']

/** The same for the same end, so that two demos show the same organisation. */
export function tellStory(until: number, seed = 7): readonly ServiceStory[] {
  return SERVICES.map((service, index) => {
    const people = TEAMS.find(({ name }) => name === service.team)?.people ?? []
    const told: Told = {
      ...{ service, people, until, begin: until - WEEKS * WEEK, luck: luckOf(seed * 1000 + index) },
      key: service.name.slice(0, 4).toUpperCase(),
      ...{ changes: [], deployments: [], tickets: [] },
    }
    for (let week = 0; week < WEEKS; week++) tellWeek(told, week)
    return storyOf(told)
  })
}

/** What is told of a service so far. */
interface Told {
  readonly service: Service
  readonly people: readonly Person[]
  readonly begin: number
  readonly until: number
  readonly luck: Luck
  readonly key: string
  readonly changes: Change[]
  readonly deployments: Deployment[]
  readonly tickets: Ticket[]
}

function tellWeek(told: Told, week: number): void {
  const { service, luck } = told
  const now = weather(week)
  const times = (usual: number, tell: (at: number) => void) => {
    for (let left = amount(luck, usual); left > 0; left--) tell(workingHour(told, week))
  }
  times(service.changesAWeek * now.pace, (at) => tellChange(told, at, now))
  times(0.3, (at) => tellUpdate(told, at))
  times(service.deploymentsAWeek * now.pace, (at) => tellDeployment(told, at, now))
  times(0.35, (at) => tellTicket(told, 'Bug', at, 40 * now.delay))
  times(0.5, (at) => tellTicket(told, 'Story', at, 90 * now.delay))
}

/** Two and a half a week: two, and every other week three. */
function amount(luck: Luck, usual: number): number {
  const wanted = usual * (0.6 + luck.next() * 0.8)
  return Math.floor(wanted) + (luck.chance(wanted % 1) ? 1 : 0)
}

function workingHour({ begin, luck }: Told, week: number): number {
  const start = begin + week * WEEK
  const untilMonday = (8 - new Date(start).getUTCDay()) % 7
  return start - (start % DAY) + (untilMonday + luck.whole(0, 4)) * DAY + (8 + luck.next() * 9) * HOUR
}

function tellChange(told: Told, openedAt: number, { delay }: Weather): void {
  const { luck, service, people, changes } = told
  const hours = service.hoursToMerge * delay * luck.spread()
  const [author = '', ...reviewers] = luck.some(people, luck.whole(2, 3)).map(({ login }) => login)
  const begun = openedAt - hours * 0.35 * HOUR
  const count = luck.whole(1, 4)
  const title = [luck.pick(VERBS), luck.pick(service.parts), luck.pick(WHY)].join(' ').trim()
  const ticket = luck.chance(0.6) ? tellTicket(told, 'Story', begun - 3 * DAY, hours + 80) : undefined
  const size = Math.round(20 + 160 * luck.spread() ** 2)
  changes.push({
    title: ticket ? `${ticket}: ${title}` : title,
    ...{ ticket, author, reviewers, openedAt },
    commits: Array.from({ length: count }, (_, index) => begun + ((openedAt - begun) * index) / count),
    reviewedAt: openedAt + hours * 0.3 * HOUR,
    mergedAt: openedAt + hours * 0.65 * HOUR,
    additions: size,
    deletions: Math.round(size * luck.next() * 0.7),
    files: Math.max(1, Math.round(size / 45)),
    failedBuilds: luck.chance(0.22) ? luck.whole(1, 2) : 0,
    buildMinutes: 6 + luck.next() * 9,
  })
}

/** Of a library, by a bot. */
function tellUpdate({ luck, people, changes }: Told, openedAt: number): void {
  const mergedAt = openedAt + luck.whole(2, 60) * HOUR
  changes.push({
    title: `Bump ${luck.pick(['fastify', 'react', 'pg', 'zod', 'vite'])} to ${luck.whole(2, 9)}.${luck.whole(0, 20)}`,
    ...{ ticket: undefined, author: luck.pick(BOTS), reviewers: [luck.pick(people).login], openedAt, mergedAt },
    commits: [openedAt - 60_000],
    reviewedAt: mergedAt - HOUR,
    ...{ additions: 12, deletions: 12, files: 2, failedBuilds: luck.chance(0.3) ? 1 : 0, buildMinutes: 7 },
  })
}

function tellDeployment(told: Told, at: number, { failure, recovery }: Weather): void {
  const { luck, service, people, deployments } = told
  const one = { minutes: 4 + luck.next() * 8, changes: 0, by: luck.pick(people).login }
  deployments.push({ ...one, at: at - 2 * HOUR, isSuccess: true, environment: 'staging' })
  const isSuccess = !luck.chance(0.03 * failure)
  deployments.push({ ...one, at, isSuccess, environment: 'production' })
  if (!isSuccess || !luck.chance(service.failureShare * failure)) return
  const hours = service.hoursToRecover * recovery * luck.spread()
  tellTicket(told, 'Incident', at + luck.whole(10, 90) * 60_000, hours)
  // What went wrong is mended by another deployment.
  deployments.push({ ...one, at: at + hours * HOUR, isSuccess: true, environment: 'production' })
}

function tellTicket(told: Told, type: Ticket['type'], createdAt: number, hours: number): string {
  const { luck, service, people, tickets } = told
  const key = `${told.key}-${tickets.length + 1}`
  const part = luck.pick(service.parts)
  const doneAt = createdAt + hours * luck.spread() * HOUR
  tickets.push({
    ...{ key, type, createdAt },
    title:
      type === 'Story'
        ? [luck.pick(VERBS), part, luck.pick(WHY)].join(' ').trim()
        : `${part[0]?.toUpperCase()}${part.slice(1)} ${luck.pick(SYMPTOMS)}`,
    reporter: luck.pick(people).login,
    assignee: luck.pick(people).login,
    begunAt: createdAt + (doneAt - createdAt) * (type === 'Incident' ? 0.05 : 0.4),
    doneAt: luck.chance(type === 'Incident' ? 0.02 : 0.06) ? undefined : doneAt,
    ...(type === 'Incident' && { category: luck.pick(CATEGORIES) }),
    ...(type === 'Story' && { points: luck.pick([1, 2, 3, 5, 8]) }),
  })
  return key
}

/** Up to the end, in the order of time. */
function storyOf({ service, key, until, ...told }: Told): ServiceStory {
  const changes = told.changes
    .filter(({ mergedAt }) => mergedAt < until)
    .sort((one, other) => one.mergedAt - other.mergedAt)
  const deployments = told.deployments
    .filter(({ at }) => at < until)
    .sort((one, other) => one.at - other.at)
    .map((each) => ({ ...each, changes: changes.filter(({ mergedAt }) => mergedAt <= each.at).length }))
    .filter((each) => each.changes > 0)
  const tickets = told.tickets
    .filter(({ createdAt }) => createdAt < until)
    .map((each) => (each.doneAt !== undefined && each.doneAt >= until ? { ...each, doneAt: undefined } : each))
  return { service, repository: `${OWNER}/${service.name}`, key, changes, deployments, tickets }
}
