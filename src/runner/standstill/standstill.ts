/**
 * Detects whether the collection stands still, as one process sees it. Its findings are kept in memory, so that it can report
 * them even when the database is unreachable or accepts no changes.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Repeated, repeat } from '../repeat.ts'
import { CAUSES, knownQueue, troublesIn } from './causes.ts'
import type { Facts } from './facts.ts'
import { createLook, type LookContext, type LookOptions } from './look.ts'
import type { QueueFacts } from './queue-facts.ts'
import { SEVERITIES, type Standing, type Told, type Trouble } from './standing.ts'
import { THRESHOLDS, type Thresholds } from './thresholds.ts'

export interface Snapshot {
  readonly facts: Facts
  /** The most severe first. */
  readonly standing: readonly Standing[]
}
export interface Standstill {
  /** The result of the last check, or of a new one when there are no regular checks. */
  latest(): Promise<Snapshot>
  /** The report to send with the heartbeat; undefined when there is none. */
  told(): Told | undefined
  /** Starts regular checks. */
  start(): void
  stop(): Promise<void>
}
interface StandstillOptions extends LookOptions {
  /** Only for tests; users cannot set them. */
  readonly thresholds?: Partial<Thresholds>
}

const keyOf = ({ cause, subject, isEarly }: Trouble | Standing, host = '') =>
  JSON.stringify([cause, host, subject, isEarly === true])

function standingOf({ seconds: _, ...trouble }: Trouble, since: Date): Standing {
  return { ...trouble, since, host: CAUSES[trouble.cause].isOfMachine ? hostname() : '' }
}
const sinceOf = ({ seconds = 0 }: Trouble) => new Date(Date.now() - 1000 * seconds)

export function createStandstill(context: LookContext, options: StandstillOptions): Standstill {
  const thresholds = { ...THRESHOLDS, ...options.thresholds }
  const own = randomUUID()
  const look = createLook(context, options, thresholds)
  /** Troubles that every check since `at` has found. */
  const found = new Map<string, { readonly trouble: Trouble; readonly at: number; readonly since: Date }>()
  let last: Snapshot | undefined
  let first: Promise<Snapshot> | undefined
  let looking: Repeated | undefined

  async function lookNow(): Promise<Snapshot> {
    const facts = await look.now()
    const troubles = new Map(troublesIn(facts, thresholds).map((trouble) => [keyOf(trouble), trouble]))
    for (const [key, { trouble }] of found) {
      // The database knows which servers are alive and what waits. While it cannot be read, the last known state is kept.
      const isUnknown = !knownQueue(facts) && CAUSES[trouble.cause].check === 'runner'
      if (!troubles.has(key) && !isUnknown) found.delete(key)
    }
    for (const [key, trouble] of troubles) {
      const { at = performance.now(), since = sinceOf(trouble) } = found.get(key) ?? {}
      found.set(key, { trouble, at, since })
    }
    last = {
      facts,
      standing: inOrder([...standingHere(), ...(facts.queue ? standingElsewhere(facts.queue, own) : [])]),
    }
    return last
  }

  const standingHere = () =>
    [...found.values()]
      .filter(({ at }) => performance.now() - at >= thresholds.afterMs)
      .map(({ trouble, since }) => standingOf(trouble, since))

  return {
    latest: async () => (looking ? (last ?? (first as Promise<Snapshot>)) : lookNow()),
    told() {
      const standing = standingHere().filter(({ cause }) => CAUSES[cause].isOwn)
      if (standing.length === 0) return undefined
      return { process: own, standing: standing.map((each) => ({ ...each, since: each.since.toISOString() })) }
    },
    start() {
      const { promise, resolve, reject } = Promise.withResolvers<Snapshot>()
      first = promise
      looking = repeat(thresholds.lookMs, async () => resolve(await lookNow()), reject)
    },
    async stop() {
      look.stop()
      await looking?.stop()
    },
  }
}

/** The troubles that other living processes report. */
const standingElsewhere = ({ members }: QueueFacts, own = ''): Standing[] =>
  members.flatMap(({ isAlive, told }) =>
    isAlive && told && told.process !== own
      ? told.standing.map((each) => ({ ...each, since: new Date(each.since) }))
      : [],
  )

/** Removes duplicates, since two processes on one machine report the same disk, and sorts the rest. */
function inOrder(all: readonly Standing[]): Standing[] {
  const once = new Map(all.toReversed().map((each) => [keyOf(each, each.host), each]))
  const rank = ({ severity }: Standing) => SEVERITIES.indexOf(severity)
  return [...once.values()].toSorted((one, other) => rank(one) - rank(other) || Number(one.since) - Number(other.since))
}

/** The findings of one check, however long they have lasted. */
export function snapshotOf(facts: Facts, thresholds: Partial<Thresholds> = {}): Snapshot {
  const troubles = troublesIn(facts, { ...THRESHOLDS, ...thresholds })
  return { facts, standing: troubles.map((trouble) => standingOf(trouble, sinceOf(trouble))) }
}

/** The beginning of a sentence about another machine. */
export const onMachine = ({ host }: Pick<Standing, 'host'>): string => (host === '' ? '' : `On ${host}: `)

/** True for a trouble that blocks this unfinished run. */
export const holdsUp =
  (run: number) =>
  ({ runs, isEarly }: Standing): boolean =>
    !isEarly && (runs?.includes(run) ?? true)

const PAUSE_MS = 500
const CONFIRM_MS = 2000

/**
 * Checks once, for a command that has no earlier checks. It waits until it knows which servers are alive, and confirms what it
 * finds by a second check. The database tells how long a trouble has lasted.
 */
export async function lookOnce(context: LookContext, options: StandstillOptions): Promise<Snapshot> {
  const thresholds = { ...THRESHOLDS, ...options.thresholds }
  const look = createLook(context, options, thresholds)
  try {
    let facts = await look.now()
    while (facts.queue && !look.isSure()) {
      await sleep(PAUSE_MS)
      facts = await look.now()
    }
    const before = new Set(troublesIn(facts, thresholds).map((trouble) => keyOf(trouble)))
    if (before.size > 0) {
      await sleep(CONFIRM_MS)
      facts = await look.now()
    }
    const own = troublesIn(facts, thresholds)
      .filter((trouble) => before.has(keyOf(trouble)))
      .filter(({ seconds = Number.POSITIVE_INFINITY }) => seconds * 1000 >= thresholds.afterMs)
      .map((trouble) => standingOf(trouble, sinceOf(trouble)))
    return { facts, standing: inOrder([...own, ...(facts.queue ? standingElsewhere(facts.queue) : [])]) }
  } finally {
    look.stop()
  }
}
