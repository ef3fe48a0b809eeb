import type { Build, Change, Review } from './happenings.ts'
import { BOTS } from './organisation.ts'
import { tellTicket } from './tell-tickets.ts'
import { DAY, HOUR, MINUTE, type Teller } from './teller.ts'
import type { Weather } from './weather.ts'
import { LIBRARIES, REMARKS, workTitle } from './words.ts'

/** Mostly the tests fail, and mostly for no reason: nothing but luck changes between two builds of a commit. */
function buildsOf({ luck }: Teller, openedAt: number, { delay }: Weather, share: number): Build[] {
  const failures = luck.chance(share) ? luck.whole(1, 2) : 0
  return Array.from({ length: failures + 1 }, (_, index) => ({
    at: openedAt + index * 40 * MINUTE,
    minutesQueued: (0.2 + luck.spread() * 0.8) * delay,
    minutes: (6 + luck.next() * 9) * (0.7 + delay * 0.3),
    failedJob: index === failures ? undefined : luck.chance(0.7) ? 'test' : luck.chance(0.6) ? 'lint' : 'package',
  }))
}

/** The first may ask for changes before it approves. */
function reviewsOf({ luck }: Teller, reviewers: readonly string[], from: number, to: number): Review[] {
  return reviewers.flatMap((by, index) => {
    const remarks = Array.from({ length: luck.whole(0, 3) }, () => luck.pick(REMARKS))
    const approval: Review = { by, at: to - index * MINUTE, state: 'APPROVED', remarks: [] }
    if (index > 0 || remarks.length === 0 || luck.chance(0.4)) return [{ ...approval, remarks }]
    return [{ by, at: from, state: 'CHANGES_REQUESTED', remarks }, approval]
  })
}

const fateOf = ({ luck }: Teller): Change['outcome'] =>
  luck.chance(0.02) ? 'open' : luck.chance(0.05) ? 'closed' : 'merged'

export function tellChange(teller: Teller, openedAt: number, now: Weather, outcome = fateOf(teller)): void {
  const { luck, service, people, changes } = teller
  const hours = service.hoursToMerge * now.delay * luck.spread()
  const [author = '', ...others] = luck.some(people, luck.whole(2, 3)).map(({ login }) => login)
  const begun = openedAt - hours * 0.35 * HOUR
  const count = luck.whole(1, 4)
  const title = workTitle(luck, luck.pick(service.parts))
  const ticket = luck.chance(0.6) ? tellTicket(teller, 'Story', begun - 3 * DAY, hours + 80) : undefined
  const size = Math.round(20 + 160 * luck.spread() ** 2)
  // Under pressure, reviews are the first to go.
  const reviewers = luck.chance(0.07 * now.delay) ? [] : others
  const end = openedAt + hours * 0.65 * HOUR
  changes.push({
    title: ticket ? `${ticket}: ${title}` : title,
    author,
    openedAt,
    outcome,
    endedAt: outcome === 'open' ? undefined : end,
    commits: Array.from({ length: count }, (_, index) => begun + ((openedAt - begun) * index) / count),
    reviews: reviewsOf(teller, reviewers, openedAt + hours * 0.3 * HOUR, openedAt + hours * 0.6 * HOUR),
    additions: size,
    deletions: Math.round(size * luck.next() * 0.7),
    files: Math.max(1, Math.round(size / 45)),
    builds: buildsOf(teller, openedAt, now, 0.15 + 0.05 * now.delay),
  })
}

/** The update of a library, by a bot. */
export function tellUpdate(teller: Teller, openedAt: number, now: Weather): void {
  const { luck, people, changes } = teller
  const endedAt = openedAt + luck.whole(2, 60) * HOUR
  const reviewers = luck.chance(0.3) ? [] : [luck.pick(people).login]
  changes.push({
    title: `Bump ${luck.pick(LIBRARIES)} to ${luck.whole(2, 9)}.${luck.whole(0, 20)}`,
    author: luck.pick(BOTS),
    openedAt,
    endedAt,
    outcome: luck.chance(0.15) ? 'closed' : 'merged',
    commits: [openedAt - MINUTE],
    reviews: reviewers.map((by) => ({ by, at: endedAt - HOUR, state: 'APPROVED', remarks: [] })),
    additions: 12,
    deletions: 12,
    files: 2,
    builds: buildsOf(teller, openedAt, now, 0.3),
  })
}

/** As it was at the end of the story. */
export function changeUntil(until: number, change: Change): Change {
  const known = {
    ...change,
    reviews: change.reviews.filter(({ at }) => at < until),
    builds: change.builds.filter(({ at }) => at < until - HOUR),
  }
  return change.endedAt === undefined || change.endedAt < until
    ? known
    : { ...known, outcome: 'open', endedAt: undefined }
}
