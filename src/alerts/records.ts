/** Alerts as they are stored, and as they are shown. */

import { nextTick } from '../control-plane/blueprints/cron.ts'
import { createReader } from '../control-plane/sealed.ts'
import type { RowOf } from '../database/table.ts'
import { metrics } from '../metrics/index.ts'
import type { Metric } from '../metrics/metric.ts'
import { valueInWords } from '../metrics/words/value-words.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { alertMessages, alerts } from '../system/alerts.ts'

export type AlertRow = RowOf<typeof alerts>
export type MessageRow = RowOf<typeof alertMessages>
export const KINDS = ['threshold', 'digest'] as const
export const DIRECTIONS = ['above', 'below'] as const
export const TARGETS = ['webhook', 'slack'] as const
export const STATES = ['unknown', 'fine', 'pending', 'broken', 'no data'] as const
/** In the order in which cron counts them. */
export const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const

export interface Target {
  readonly kind: (typeof TARGETS)[number]
  readonly url: string
  readonly secret: string
}

/** A metric that a later version no longer has counts as none. */
export const metricOf = ({ metric }: Pick<AlertRow, 'metric'>): Metric | undefined =>
  metrics.find(({ name }) => name === metric)

export const cronOf = ({ hour, weekday }: Pick<AlertRow, 'hour' | 'weekday'>): string => `0 ${hour} * * ${weekday}`

export function targetOf(row: AlertRow, { decrypt }: Secrets): Target {
  return {
    kind: row.target as Target['kind'],
    url: decrypt(row.url),
    secret: row.secret === '' ? '' : decrypt(row.secret),
  }
}

/** Shows only the host of an address: in Slack's, the rest is the password. */
export function publicAddress(url: string): string {
  const parsed = URL.parse(url)
  return parsed ? `${parsed.protocol}//${parsed.host}/…` : ''
}

export function publicAlert(row: AlertRow, last: MessageRow | undefined, secrets: Secrets) {
  const reader = createReader()
  const url = reader.read('target', () => targetOf(row, secrets).url, '')
  const { problem } = reader.problem()
  const shared = {
    id: row.id,
    name: row.name,
    kind: row.kind as (typeof KINDS)[number],
    enable: row.enable,
    project: row.project_name || null,
    target: { kind: row.target as Target['kind'], address: publicAddress(url), hasSecret: row.secret !== '' },
    state: (row.state || 'unknown') as (typeof STATES)[number],
    lookedAt: row.looked_at,
    problem: problem?.message ?? row.problem,
    lastMessage: last
      ? {
          kind: last.kind,
          state: last.state as 'waiting' | 'sent' | 'failed',
          attempts: last.attempts,
          createdAt: last.created_at,
          sentAt: last.sent_at,
          failure: last.failure,
        }
      : null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
  return row.kind === 'digest' ? { ...shared, ...digestFields(row) } : { ...shared, ...thresholdFields(row) }
}

const NOTHING = {
  metric: null,
  title: null,
  unit: null,
  direction: null,
  threshold: null,
  thresholdInWords: null,
  windowDays: null,
  forDays: null,
  value: null,
  inWords: null,
  brokenSince: null,
  weekday: null,
  hour: null,
  nextAt: null,
}

const digestFields = (row: AlertRow) => ({
  ...NOTHING,
  weekday: WEEKDAYS[row.weekday] ?? null,
  hour: row.hour,
  nextAt: row.enable ? nextTick(cronOf(row), new Date()) : null,
})

function thresholdFields(row: AlertRow) {
  const metric = metricOf(row)
  const words = (value: number | null) => (metric && value !== null ? valueInWords(metric.unit, value) : null)
  return {
    ...NOTHING,
    metric: row.metric,
    title: metric?.title ?? row.metric,
    unit: metric?.unit ?? null,
    direction: row.direction as (typeof DIRECTIONS)[number],
    threshold: row.threshold,
    thresholdInWords: words(row.threshold),
    windowDays: row.window_days,
    forDays: row.for_days,
    value: row.value,
    inWords: row.value === null ? null : row.value_words || words(row.value),
    brokenSince: row.broken_since,
  }
}
