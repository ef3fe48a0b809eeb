/**
 * Messages leave from a table: what was decided is stored with the decision, and sent until it was taken. Whoever sends
 * puts the message off first, so that of several servers one does; should that one die before it notes what became of
 * it, another sends it again. So each arrives at least once, and twice only then; `id` in it is the same both times.
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
  /** Of this message, however often it is sent. */
  readonly id: string
  readonly type: 'alert.broken' | 'alert.recovered' | 'alert.test' | 'digest' | 'traffic'
  readonly text: string
  /** Where people see what it tells of. */
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
    ...{ alert_id: alertId, kind, body: JSON.stringify(message), state: 'waiting', due_at: now },
  })

/** What is signed is the moment, a dot, and the body to the letter. */
export const signatureOf = (secret: string, moment: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${moment}.${body}`).digest('hex')}`

interface Outcome {
  readonly code: number
  /** Empty: it was taken. */
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

/** Tries it now, and notes what became of it. Undefined: somebody else does. */
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

/** Everything whose time has come. */
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
    // Those of one address arrive in their order; where it takes none, the others are not kept waiting.
    for (let row = rows.shift(); row; row = rows.shift()) if (await send(row)) break
    await Promise.all(rows.map(send))
  })
  await Promise.all(lines)
  return sent
}

/** Right now, for somebody who waits for the answer. */
export async function sendNow(context: AlertContext, alertId: number, message: Message): Promise<Outcome> {
  const now = new Date()
  const id = await storeMessage(context.database.kysely, alertId, 'test', message, now)
  const row = await findRow(context.database.kysely, alertMessages, { id })
  const outcome = row && (await attempt(context, row, now))
  return outcome ?? { code: 0, failure: 'Another server took it.' }
}
