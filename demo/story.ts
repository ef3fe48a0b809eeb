/** Makes up what happened, week by week. The fakes of the vendors get it afterwards. */
import { mergedChanges, type ServiceStory } from './happenings.ts'
import { type Luck, luckOf } from './luck.ts'
import { OWNER, SERVICES, type Size, TEAMS, WHOLE } from './organisation.ts'
import { changeUntil, tellChange, tellUpdate } from './tell-changes.ts'
import { reportsUntil, sprintsOf, tellReport, tellTicket, ticketsUntil } from './tell-tickets.ts'
import { DAY, HOUR, MINUTE, type Teller, WEEK } from './teller.ts'
import { BAD_UNTIL, type Weather, weather } from './weather.ts'
import { troubleTitle } from './words.ts'

const WEEKS_OF_AN_EPIC = 13

/** The same for the same end, so that two demos show the same organisation. */
export function tellStory(until: number, { services, weeks }: Size = WHOLE, seed = 7): readonly ServiceStory[] {
  return SERVICES.flatMap((service, index) => {
    if (!services.includes(service.name)) return []
    const teller: Teller = {
      service,
      until,
      begin: until - weeks * WEEK,
      luck: luckOf(seed * 1000 + index),
      people: TEAMS.find(({ name }) => name === service.team)?.people ?? [],
      key: service.name.slice(0, 4).toUpperCase(),
      changes: [],
      deployments: [],
      tickets: [],
      reports: [],
      releases: [],
      alarms: [],
    }
    for (let week = 0; week < weeks; week++) tellWeek(teller, week, weather(week / weeks))
    tellToday(teller)
    return [storyOf(teller)]
  })
}

function tellWeek(teller: Teller, week: number, now: Weather): void {
  const { service, luck, begin } = teller
  const times = (usual: number, tell: (at: number) => void) => {
    for (let left = amount(luck, usual); left > 0; left--) tell(workingHour(teller, week))
  }
  if (week % WEEKS_OF_AN_EPIC === 0) tellTicket(teller, 'Epic', begin + week * WEEK, (WEEKS_OF_AN_EPIC * WEEK) / HOUR)
  times(service.changesAWeek * now.pace, (at) => tellChange(teller, at, now))
  times(0.3, (at) => tellUpdate(teller, at, now))
  times(service.deploymentsAWeek * now.pace, (at) => tellDeployment(teller, at, now))
  times(0.35, (at) => tellTicket(teller, 'Bug', at, 40 * now.delay))
  times(0.5, (at) => tellTicket(teller, 'Story', at, 90 * now.delay))
  times(0.25, (at) => tellReport(teller, at, now.delay))
  if (service.hasApp) times(0.7 * now.pace, (at) => tellRelease(teller, at, now))
}

/** Something always waits: whoever looks finds work of different age, and an incident that continues. */
function tellToday(teller: Teller): void {
  const { luck, until } = teller
  const now = weather(1)
  for (const days of [1, 9, 40]) tellChange(teller, until - days * DAY, now, 'open')
  for (const days of [4, 20]) tellTicket(teller, 'Bug', until - days * DAY, days * 24, true)
  tellReport(teller, until - 6 * DAY, now.delay, true)
  tellTicket(teller, 'Incident', until - luck.whole(2, 20) * HOUR, 1, true)
}

/** Two and a half a week: two, and every other week three. */
function amount(luck: Luck, usual: number): number {
  const wanted = usual * (0.6 + luck.next() * 0.8)
  return Math.floor(wanted) + (luck.chance(wanted % 1) ? 1 : 0)
}

function workingHour({ begin, luck }: Teller, week: number): number {
  const start = begin + week * WEEK
  const untilMonday = (8 - new Date(start).getUTCDay()) % 7
  return start - (start % DAY) + (untilMonday + luck.whole(0, 4)) * DAY + (8 + luck.next() * 9) * HOUR
}

function tellDeployment(teller: Teller, at: number, { failure, recovery, delay }: Weather): void {
  const { luck, service, people, deployments } = teller
  const minutesQueued = (0.1 + luck.spread() * 0.4) * delay
  const one = { minutesQueued, minutes: 4 + luck.next() * 8, changes: 0, by: luck.pick(people).login }
  deployments.push({ ...one, at: at - 2 * HOUR, isSuccess: true, environment: 'staging' })
  const isSuccess = !luck.chance(0.03 * failure)
  deployments.push({ ...one, at, isSuccess, environment: 'production' })
  if (!isSuccess || !luck.chance(service.failureShare * failure)) return
  const hours = service.hoursToRecover * recovery * luck.spread()
  tellTicket(teller, 'Incident', at + luck.whole(10, 90) * MINUTE, hours)
  // Another deployment repairs it.
  deployments.push({ ...one, at: at + hours * HOUR, isSuccess: true, environment: 'production' })
}

/** Releases of the app, some of them with an alarm after them. */
function tellRelease({ luck, service, releases, alarms }: Teller, at: number, { failure, recovery }: Weather): void {
  const version = `${1 + Math.floor(releases.length / 10)}.${releases.length % 10}`
  const isSuccess = !luck.chance(0.06 * failure)
  releases.push({ version, at, isSuccess })
  if (!isSuccess || !luck.chance(0.15 * failure)) return
  const began = at + luck.whole(20, 300) * MINUTE
  const title = `App: ${troubleTitle(luck, luck.pick(service.parts)).toLowerCase()}`
  const endedAt = luck.chance(0.1) ? undefined : began + 3 * HOUR * recovery * luck.spread()
  alarms.push({ key: `APP-${alarms.length + 1}`, title, at: began, endedAt })
}

/** Up to the end, in the order of time. */
function storyOf(teller: Teller): ServiceStory {
  const { service, key, until, begin } = teller
  const changes = teller.changes
    .filter(({ openedAt }) => openedAt < until)
    .sort((one, other) => one.openedAt - other.openedAt)
    .map((change) => changeUntil(until, change))
  const merged = mergedChanges({ changes })
  const deployments = teller.deployments
    .filter(({ at }) => at < until - HOUR)
    .sort((one, other) => one.at - other.at)
    .map((each) => ({ ...each, changes: merged.filter(({ endedAt = until }) => endedAt <= each.at).length }))
    .filter((each) => each.changes > 0)
  return {
    service,
    repository: `${OWNER}/${service.name}`,
    key,
    changes,
    deployments,
    tickets: ticketsUntil(until, teller.tickets),
    sprints: sprintsOf(teller),
    reports: reportsUntil(until, teller.reports),
    releases: teller.releases.filter(({ at }) => at < until - HOUR),
    alarms: teller.alarms
      .filter(({ at }) => at < until)
      .map((each) => ({ ...each, endedAt: each.endedAt && each.endedAt < until ? each.endedAt : undefined })),
    circleciFrom: service.isBuiltOnCircleci ? begin + (until - begin) * BAD_UNTIL : undefined,
  }
}
