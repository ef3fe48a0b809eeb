import type { Alarm, Change, Deployment, Release, Report, Ticket } from './happenings.ts'
import type { Luck } from './luck.ts'
import type { Person, Service } from './organisation.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const WEEK = 7 * DAY

/** Everything that has happened to a service so far. */
export interface Teller {
  readonly service: Service
  readonly people: readonly Person[]
  readonly begin: number
  readonly until: number
  readonly luck: Luck
  /** Begins the keys of its tickets. */
  readonly key: string
  readonly changes: Change[]
  readonly deployments: Deployment[]
  readonly tickets: Ticket[]
  readonly reports: Report[]
  readonly releases: Release[]
  readonly alarms: Alarm[]
}
