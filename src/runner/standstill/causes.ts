/** The causes of a standstill: for each, how it is detected, how severe it is, the message, and the remedy. */
import { counted } from '../../basics/counted.ts'
import type { Facts } from './facts.ts'
import type { Refusal } from './refusals.ts'
import { CAUSE_NAMES, type CauseName, type Found, type Severity, type Trouble } from './standing.ts'
import type { Thresholds } from './thresholds.ts'

/** The parts of the installation, as the doctor names them. */
export const CHECKS = ['database', 'clock', 'disk', 'runner', 'sources'] as const

interface Cause {
  readonly check: (typeof CHECKS)[number]
  /** Shown to users who may not see the whole installation. */
  readonly title: string
  readonly severities: readonly Severity[]
  /** True when other processes may not be able to detect it, so this process must tell them. */
  readonly isOwn: boolean
  /** True when the cause concerns only this machine. */
  readonly isOfMachine: boolean
  find(facts: Facts, thresholds: Thresholds): readonly Found[]
}

/** Undefined when it is unknown which servers are alive. While the database refuses changes, no server can send heartbeats. */
export const knownQueue = ({ queue, database }: Facts): Facts['queue'] =>
  database.refusesChanges === '' ? queue : undefined

const megabytes = (bytes: number) =>
  bytes < 1024 ** 3 ? `${Math.floor(bytes / 1024 ** 2)} MB` : `${(bytes / 1024 ** 3).toFixed(1)} GB`

const START_WORKER =
  'Start one with `npx weir worker`, with the DB_URL and ENCRYPTION_SECRET of the servers, or set RUN_TASKS_ON=server on all servers.'
const START_SERVER = 'Start a server with `npm start`; one with CONSUME_PIPELINES=false takes no runs.'

const KNOWN_TO_ALL = { isOwn: false, isOfMachine: false }
/** While no task waits, only the settings of the servers tell that they need workers. */
const KNOWN_TO_SERVERS = { isOwn: true, isOfMachine: false }
const OF_MACHINE = { isOwn: true, isOfMachine: true }

export const CAUSES: Readonly<Record<CauseName, Cause>> = {
  no_worker: {
    check: 'runner',
    title: 'No worker takes tasks.',
    severities: ['critical'],
    ...KNOWN_TO_SERVERS,
    find(facts) {
      const queue = knownQueue(facts)
      if (!queue) return []
      const { needsWorkers } = facts
      const { count, runs, seconds } = queue.handedOut
      const isThere = queue.members.some(({ kind, isAlive, isDraining }) => kind === 'worker' && isAlive && !isDraining)
      if (isThere || (count === 0 && !needsWorkers)) return []
      const about = { severity: 'critical' as const, subject: '', remedy: START_WORKER, runs }
      const sentence = 'No worker takes tasks'
      if (count === 0) return [{ ...about, sentence: `${sentence}: none is running.` }]
      const wait = `${counted(count, 'task')} ${count === 1 ? 'waits' : 'wait'}`
      return [{ ...about, sentence: `${sentence}: ${wait}, and none is running.`, seconds }]
    },
  },

  database_slow: {
    check: 'database',
    title: 'The database is slow.',
    severities: ['critical', 'warning'],
    ...KNOWN_TO_ALL,
    find({ database: { statementSeconds, failure } }, { slowStatementMs }) {
      const about = { subject: '' }
      if (statementSeconds === undefined) {
        const remedy = 'Start it, or mend the way to it; runs continue by themselves when it is back.'
        return [{ ...about, severity: 'critical', sentence: failure || 'The database does not answer.', remedy }]
      }
      if (statementSeconds * 1000 <= slowStatementMs) return []
      const sentence = `The database is slow: a statement that takes a moment took ${statementSeconds.toFixed(1)} seconds.`
      const remedy = 'Look at the load and the disk of its server, and at other programs that use it.'
      return [{ ...about, severity: 'warning', sentence, remedy }]
    },
  },

  database_read_only: {
    check: 'database',
    title: 'The database accepts no changes.',
    severities: ['critical'],
    ...KNOWN_TO_ALL,
    find({ database: { refusesChanges } }) {
      if (refusesChanges === '') return []
      const remedy = 'Make it accept changes again, or set DB_URL to the server that does; runs continue by themselves.'
      return [{ severity: 'critical', subject: '', sentence: refusesChanges, remedy }]
    },
  },

  disk_full: {
    check: 'disk',
    title: 'A disk is full, or nearly.',
    severities: ['critical', 'warning'],
    ...OF_MACHINE,
    find({ disk }, { fullBytes, fullShare, nearlyFullBytes, nearlyFullShare }) {
      if (!disk) return []
      const { folder, freeBytes, sizeBytes } = disk
      const isFull = freeBytes < Math.min(fullBytes, fullShare * sizeBytes)
      if (!isFull && freeBytes >= Math.min(nearlyFullBytes, nearlyFullShare * sizeBytes)) return []
      const look = isFull ? 'is full' : 'is nearly full'
      const sentence = `The disk of the data folder ${look}: ${megabytes(freeBytes)} free of ${megabytes(sizeBytes)} for ${folder}.`
      const remedy = 'Free some space, or see `npx weir storage` and `npx weir retention`. Logs lose lines until then.'
      return [{ severity: isFull ? 'critical' : 'warning', subject: folder, sentence, remedy, isEarly: !isFull }]
    },
  },

  clock_off: {
    check: 'clock',
    title: 'A clock is wrong.',
    severities: ['warning'],
    ...OF_MACHINE,
    find({ database: { clockOffsetSeconds = 0 } }, { clockOffMs }) {
      if (Math.abs(clockOffsetSeconds) * 1000 <= clockOffMs) return []
      const side = clockOffsetSeconds > 0 ? 'ahead of' : 'behind'
      const off = counted(Math.round(Math.abs(clockOffsetSeconds)), 'second')
      const sentence = `The clock of this machine is ${off} ${side} that of the database, so times do not fit together.`
      const remedy = 'Set the clocks of both machines by NTP.'
      return [{ severity: 'warning', subject: '', sentence, remedy }]
    },
  },

  queue_not_moving: {
    check: 'runner',
    title: 'Runs wait, and nobody continues them.',
    severities: ['critical'],
    ...KNOWN_TO_ALL,
    find(facts) {
      const queue = knownQueue(facts)
      return queue ? [...notTakenOver(queue), ...notTaken(queue), ...leftByWorkers(queue)] : []
    },
  },

  source_refuses: {
    check: 'sources',
    title: 'A source refuses every request.',
    severities: ['warning'],
    ...OF_MACHINE,
    find: ({ refusals }) =>
      [...Map.groupBy(refusals, ({ connection }) => connection)].map(([connection, own]) => {
        const seconds = Math.max(...own.map((each) => each.seconds))
        const [last] = own.toSorted((one, other) => other.seconds - one.seconds) as [Refusal, ...Refusal[]]
        const count = own.reduce((sum, each) => sum + each.requests, 0)
        const requests = count === 1 ? 'the last request' : `the last ${counted(count, 'request')}`
        const answer = last.status === 0 ? 'there was no answer' : `the answer was ${last.status}`
        return {
          severity: 'warning' as const,
          subject: connection,
          sentence: `The source of connection ${connection} refuses ${requests}: ${answer}.`,
          remedy: remedyOf(last.status),
          runs: [...new Set(own.map(({ run }) => run))],
          seconds,
        }
      }),
  },
}

type Queue = NonNullable<Facts['queue']>

function notTakenOver({ running }: Queue): Found[] {
  const lost = running.filter(({ isHeld }) => !isHeld).map(({ id }) => id)
  if (lost.length === 0) return []
  const names = lost.slice(0, 5).join(', ')
  const sentence =
    lost.length === 1
      ? `Run ${names} stands still: the server that ran it is gone, and no other has taken it over.`
      : `Runs ${names}${lost.length > 5 ? ' and others' : ''} stand still: their server is gone, and no other has taken them over.`
  return [{ severity: 'critical', subject: 'lost', sentence, remedy: START_SERVER, runs: lost }]
}

/** A run that waits while another one is under way is normal. */
function notTaken({ waiting: { count, runs, seconds }, running }: Queue): Found[] {
  if (count === 0 || running.some(({ isHeld }) => isHeld)) return []
  const sentence = `${counted(count, 'run')} ${count === 1 ? 'waits' : 'wait'}, none is under way, and no server takes the next one.`
  return [{ severity: 'critical', subject: 'waiting', sentence, remedy: START_SERVER, runs, seconds }]
}

function leftByWorkers({ members, handedOut: { count, runs, seconds, notes }, taken }: Queue): Found[] {
  const places = members
    .filter(({ kind, isAlive, isDraining }) => kind === 'worker' && isAlive && !isDraining)
    .reduce((sum, each) => sum + each.places, 0)
  if (count === 0 || places === 0 || taken >= places) return []
  const why = notes.length > 0 ? ` ${notes.join(' ')}` : ''
  const sentence = `${counted(count, 'task')} ${count === 1 ? 'waits' : 'wait'} although workers have free places.${why}`
  const remedy = 'Update the workers to the version of the servers; look at their logs, and start them again.'
  return [{ severity: 'critical', subject: 'left', sentence, remedy, runs, seconds }]
}

function remedyOf(status: number): string {
  if (status === 401 || status === 403 || status === 407) return 'Test the connection, and renew its token.'
  if (status === 429) return 'Wait, or lower the requests per hour of the connection.'
  return 'See whether the source is up, and test the connection.'
}

/** Finds the current troubles of every cause. */
export const troublesIn = (facts: Facts, thresholds: Thresholds): Trouble[] =>
  CAUSE_NAMES.flatMap((cause) => CAUSES[cause].find(facts, thresholds).map((found) => ({ ...found, cause })))
