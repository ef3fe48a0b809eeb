/**
 * Messages are sent from a table. A message is stored together with the decision to send it, and is sent until it was accepted.
 * A server first postpones the message and then sends it, so that only one of several servers does. If that server dies before
 * it notes the result, another one sends the message again. So each message arrives at least once, and twice only in that case;
 * its `id` is then the same.
 */
import { createHmac } from 'node:crypto'
import { findRow, insertRow, type Queries, selectRows, updateRows } from '../control-plane/store.ts'
import { messageOf } from '../errors.ts'
import { type Logger, redact } from '../log.ts'
import { createApiClient } from '../plugin-kit/http/index.ts'
import { alertMessages, alerts } from '../system/alerts.ts'
import type { AlertContext } from './alert-service.ts'
import { type AlertRow, type MessageRow, type Target, targetOf } from './records.ts'

export interface Message {
  /** The id of this message, however often it is sent. */
  readonly id: string
  readonly type: 'alert.broken' | 'alert.recovered' | 'alert.test' | 'digest' | 'traffic'
  readonly text: string
  /** The page where people see what the message reports. */
  readonly link?: string
  readonly [detail: string]: unknown
}

const TIMEOUT_MS = 30_000
/** Longer than an attempt can take. */
const TURN_MS = 2 * 60_000
const MINUTE_MS = 60_000
const MOST_ATTEMPTS = 9
const AT_ONCE = 50
const LONGEST_FAILURE = 1000

export const storeMessage = (
  queries: Queries,
  alertId: number,
  kind: string,
  message: Message,
  now: Date,
): Promise<number> =>
  insertRow(queries, alertMessages, {
    alert_id: alertId,
    kind,
    body: JSON.stringify(message),
    state: 'waiting',
    due_at: now,
  })

/** The signed text is the time, a dot, and the exact body. */
const signatureOf = (secret: string, moment: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${moment}.${body}`).digest('hex')}`

interface Outcome {
  readonly code: number
  /** Empty if the message was accepted. */
  readonly failure: string
}

async function post({ kind, url, secret }: Target, message: Message, now: Date): Promise<Outcome> {
  const { pathname, search } = new URL(url)
  const hidden = [url, `${pathname}${search}`].filter((part) => part.length > 1)
  const client = createApiClient({ connection: 'alert', endpoint: url, credentials: [], secrets: hidden, retries: 0 })
  const { text, link } = message
  const body = kind === 'slack' ? { text: link === undefined ? text : `${text}\n${link}` } : message
  const moment = now.toISOString()
  const headers = {
    'x-weir-timestamp': moment,
    'x-weir-signature': signatureOf(secret, moment, JSON.stringify(body)),
  }
  try {
    const request = { method: 'POST', path: url, body, as: 'bytes' as const, ...(kind === 'webhook' && { headers }) }
    const { status } = await client.send(request, AbortSignal.timeout(TIMEOUT_MS))
    return { code: status, failure: '' }
  } catch (error) {
    const { status = 0 } = error as { status?: number }
    const said = redact(client.redact(messageOf(error))).replace(/^Connection "alert": /, '')
    return { code: status, failure: said.slice(0, LONGEST_FAILURE) }
  } finally {
    await client.close()
  }
}

/** Tries to send it now, and notes the result. Undefined if another server does so. */
async function attempt({ database, secrets }: AlertContext, row: MessageRow, now: Date): Promise<Outcome | undefined> {
  const { kysely } = database
  const attempts = row.attempts + 1
  const mine = { id: row.id, state: 'waiting', attempts: row.attempts }
  const due_at = new Date(Math.max(now.getTime(), Date.now()) + TURN_MS)
  if ((await updateRows(kysely, alertMessages, mine, { attempts, due_at })) !== 1) return undefined
  const alert = await findRow(kysely, alerts, { id: row.alert_id })
  const outcome = alert ? await sendTo(alert) : { code: 0, failure: 'The alert was deleted.' }
  const isOver = attempts >= MOST_ATTEMPTS || row.kind === 'test' || !alert
  const later = new Date(now.getTime() + MINUTE_MS * 2 ** row.attempts)
  const outcomeColumns = { response_code: outcome.code, failure: outcome.failure }
  const became =
    outcome.failure === ''
      ? { ...outcomeColumns, state: 'sent', sent_at: new Date() }
      : { ...outcomeColumns, state: isOver ? 'failed' : 'waiting', due_at: later }
  await updateRows(kysely, alertMessages, { id: row.id, attempts }, became)
  return outcome

  async function sendTo(target: AlertRow): Promise<Outcome> {
    try {
      return await post(targetOf(target, secrets), JSON.parse(row.body), now)
    } catch (error) {
      return { code: 0, failure: redact(messageOf(error)) }
    }
  }
}

/** Sends every message that is due. */
export async function sendWaiting(context: AlertContext & { readonly log: Logger }, now = new Date()): Promise<number> {
  const waiting = await selectRows(context.database.kysely, alertMessages, (query) =>
    query.where('state', '=', 'waiting').where('due_at', '<=', now).orderBy('id').limit(AT_ONCE),
  )
  let sent = 0
  const send = async (row: MessageRow) => {
    const outcome = await attempt(context, row, now)
    if (outcome?.failure === '') sent++
    if (outcome?.failure) context.log.warn({ message: row.id }, `a message was not delivered: ${outcome.failure}`)
    return outcome?.failure
  }
  const lines = [...Map.groupBy(waiting, ({ alert_id }) => alert_id).values()].map(async ([...rows]) => {
    // Messages of one alert arrive in order. If one fails, the others are tried at once, so that they are not kept waiting.
    for (let row = rows.shift(); row; row = rows.shift()) if (await send(row)) break
    await Promise.all(rows.map(send))
  })
  await Promise.all(lines)
  return sent
}

/** Sends it right now, for somebody who waits for the answer. */
export async function sendNow(context: AlertContext, alertId: number, message: Message): Promise<Outcome> {
  const now = new Date()
  const id = await storeMessage(context.database.kysely, alertId, 'test', message, now)
  const row = await findRow(context.database.kysely, alertMessages, { id })
  const outcome = row && (await attempt(context, row, now))
  return outcome ?? { code: 0, failure: 'Another server took it.' }
}
