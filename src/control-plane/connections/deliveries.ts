/**
 * Deliveries are webhooks that sources send by themselves. Keeps the secret that verifies their signature, and the inbox in
 * which they wait until they are applied.
 */

import { randomBytes } from 'node:crypto'
import { inLine, oneAtATime } from '../../database/line.ts'
import type { RawRecord, RowOf } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { UnavailableError, UserError } from '../../errors.ts'
import type { DeliverySpec, SentDelivery } from '../../plugin-kit/spec/deliveries.ts'
import type { Plugin } from '../../plugin-kit/spec/plugin.ts'
import { withBareAddresses } from '../../secrets/address-secrets.ts'
import { maskSecrets } from '../../secrets/secrets.ts'
import { deliverySecrets, webhookDeliveries } from '../../system/deliveries.ts'
import { type Actor, recordChange } from '../audit/record.ts'
import type { ServiceContext } from '../services.ts'
import {
  deleteRows,
  equalTo,
  findRow,
  insertRow,
  type Queries,
  type QueryOf,
  selectRows,
  updateRows,
} from '../store.ts'

export type DeliveryRow = RowOf<typeof webhookDeliveries>
export type DeliveryState = 'waiting' | 'applied' | 'ignored' | 'refused' | 'failed'

export const LONGEST_PAYLOAD = 4000
/** The number of deliveries and of refused requests that are kept per connection. Older ones are deleted. */
export const MOST_KEPT = 200
const MOST_REFUSED = 20
const LONGEST_KEPT_MS = 30 * 24 * 3_600_000
/** More waiting deliveries are refused: nothing seems to apply them, and runs collect the same data anyway. */
const MOST_WAITING = 1000

interface Place {
  readonly plugin: string
  readonly connectionId: number
}
const whereOf = ({ plugin, connectionId }: Place) => ({ plugin, connection_id: connectionId })

/** How a source sends deliveries. Undefined when it sends none, has no connections of its own or does not exist. */
export const deliverySpecOf = (plugins: readonly Plugin[], name: string): DeliverySpec | undefined => {
  const source = plugins.find((plugin) => plugin.name === name)?.source
  return source?.settingsOf ? undefined : source?.deliveries
}

const newSecret = (): string => randomBytes(20).toString('hex')

export interface SentTo extends Place {
  readonly path: string
  readonly address: string
}

/** The parts of a delivery that are stored. */
export interface ReadDelivery {
  readonly deliveryId: string
  readonly kind: string
  /** The payload as JSON, with secrets masked. */
  readonly whole: string
}
export const readDelivery = (spec: DeliverySpec, sent: SentDelivery, payload: unknown): ReadDelivery => ({
  deliveryId: spec.idOf(sent, payload).slice(0, 191),
  kind: spec.eventOf(sent, payload).slice(0, 100),
  whole: JSON.stringify(maskSecrets(withBareAddresses(payload))),
})

interface Taken {
  readonly id: number
  readonly state: DeliveryState
  /** True when the same delivery had arrived before. */
  readonly isKnown: boolean
}

export function deliveryService({ database, plugins, secrets, changed }: ServiceContext) {
  const { kysely } = database
  const specOf = (plugin: string): DeliverySpec => {
    const spec = deliverySpecOf(plugins, plugin)
    if (!spec) throw new UserError(`${plugin} sends nothing by itself that Weir understands.`, { status: 404 })
    return spec
  }
  async function requireConnection({ plugin, connectionId }: Place): Promise<void> {
    const table = plugins.find(({ name }) => name === plugin)?.tables.find(({ name }) => name.endsWith('_connections'))
    if (table && (await findRow(kysely, table, { id: connectionId }))) return
    throw new UserError(`There is no ${plugin} connection ${connectionId}.`, { status: 404 })
  }

  return {
    specOf,
    /**
     * Replaces the secret, if there is one, and returns the new one, which is never shown again. `entered` is the secret of a
     * source that makes its own.
     */
    async renewSecret(place: Place, actor: Actor, entered?: string): Promise<string> {
      const spec = specOf(place.plugin)
      await requireConnection(place)
      if (entered === undefined && spec.isSecretOfSource) {
        throw new UserError(`${place.plugin} makes the secret itself. ${spec.setup.secret}`, { status: 400 })
      }
      if (entered !== undefined && !spec.isSecretOfSource) {
        throw new UserError(`${place.plugin} is given a secret that Weir makes: ask for a new one.`, { status: 400 })
      }
      const secret = entered ?? (spec.newSecret ?? newSecret)()
      const alone = (act: () => Promise<void>) =>
        oneAtATime(database, 'delivery secrets', () => retrying(database, act))
      await alone(() =>
        kysely.transaction().execute(async (transaction) => {
          const before = await findRow(transaction, deliverySecrets, whereOf(place))
          await deleteRows(transaction, deliverySecrets, whereOf(place))
          await insertRow(transaction, deliverySecrets, { ...whereOf(place), secret: secrets.encrypt(secret) })
          await recordChange(transaction, actor, {
            action: before ? 'update' : 'create',
            subject: `${place.plugin} delivery secret`,
            key: String(place.connectionId),
            before: null,
            after: null,
          })
        }),
      )
      return secret
    },
    async removeSecret(place: Place, actor: Actor): Promise<void> {
      specOf(place.plugin)
      await kysely.transaction().execute(async (transaction) => {
        if ((await deleteRows(transaction, deliverySecrets, whereOf(place))) === 0) return
        const change = { subject: `${place.plugin} delivery secret`, key: String(place.connectionId) }
        await recordChange(transaction, actor, { action: 'delete', ...change, before: null, after: null })
      })
    },
    /** Returns when the secret was stored; null when there is none. */
    async secretSince(place: Place): Promise<Date | null> {
      await requireConnection(place)
      return (await findRow(kysely, deliverySecrets, whereOf(place)))?.created_at ?? null
    },
    async secretOf(place: Place): Promise<string | undefined> {
      const row = await findRow(kysely, deliverySecrets, whereOf(place))
      return row && secrets.decrypt(row.secret)
    },
    /** Stores a delivery whose signature was verified until it is applied. */
    take(to: SentTo, { deliveryId: delivery_id, kind, whole }: ReadDelivery): Promise<Taken> {
      return inLine(database, `deliveries ${to.plugin} ${to.connectionId}`, async () => {
        const before = (query: QueryOf<typeof webhookDeliveries>) =>
          equalTo<typeof webhookDeliveries>(query, { ...whereOf(to), delivery_id }).limit(1)
        const [known] = delivery_id ? await selectRows(kysely, webhookDeliveries, before, WHOLE) : []
        if (known) return { id: known.id, state: known.state as DeliveryState, isKnown: true }
        await requireRoom(kysely, to)
        const id = await insertRow(kysely, webhookDeliveries, {
          ...whereOf(to),
          kind,
          delivery_id,
          state: 'waiting',
          path: to.path,
          address: to.address,
          sender: to.plugin,
          status: 202,
          body: Buffer.from(whole),
          payload: whole.slice(0, LONGEST_PAYLOAD),
          characters: whole.length,
        })
        await trimInbox(kysely, whereOf(to))
        changed('deliveries')
        return { id, state: 'waiting', isKnown: false }
      })
    },
    /** Records that a request arrived that was not signed or could not be read. Nothing of its content is stored. */
    async refuse(to: SentTo, status: number, message: string): Promise<void> {
      await insertRow(kysely, webhookDeliveries, {
        ...whereOf(to),
        state: 'refused',
        path: to.path,
        address: to.address,
        status,
        message,
      })
      await trimInbox(kysely, whereOf(to))
    },
    /** Applies a stored delivery again. */
    async replay(place: Place, id: number, actor: Actor): Promise<void> {
      const own = (query: QueryOf<typeof webhookDeliveries>) =>
        equalTo<typeof webhookDeliveries>(query, { id, ...whereOf(place) })
      const [row] = await selectRows(kysely, webhookDeliveries, own, WHOLE)
      if (!row) throw new UserError(`There is no delivery ${id}: newer ones have replaced it.`, { status: 404 })
      if (!isReplayable(row)) throw new UserError('This delivery was refused: have the source send it again.')
      await kysely.transaction().execute(async (transaction) => {
        await updateRows(transaction, webhookDeliveries, { id }, { state: 'waiting', effect: '' })
        const change = { subject: `${row.plugin} delivery`, key: String(id) }
        await recordChange(transaction, actor, { action: 'rerun', ...change, before: null, after: null })
      })
      changed('deliveries')
    },
  }
}

/** Columns of up to megabytes, which are read only where they are needed. */
export const WHOLE = ['body']

/** True when the whole delivery is stored. Of refused deliveries no character is stored. */
export const isReplayable = ({ characters }: DeliveryRow): boolean => characters > 0

async function requireRoom(queries: Queries, place: Place): Promise<void> {
  const { count } = await equalTo(queries.selectFrom(webhookDeliveries.name), { ...whereOf(place), state: 'waiting' })
    .select((builder) => builder.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  if (Number(count) >= MOST_WAITING) {
    throw new UnavailableError(`${MOST_WAITING} deliveries wait to be applied already: send this again later.`, {
      retryAfterSeconds: 60,
    })
  }
}

/** Deletes old deliveries of one connection. Deliveries that still wait are kept. */
export async function trimInbox(
  queries: Queries,
  { plugin, connection_id }: ReturnType<typeof whereOf>,
): Promise<void> {
  const ended = queries
    .selectFrom(webhookDeliveries.name)
    .select('id')
    .where('plugin', '=', plugin)
    .where('connection_id', '=', connection_id)
    .where('state', '<>', 'waiting')
  const tooMany = async (refused: '=' | '<>', most: number) =>
    ended.where('state', refused, 'refused').orderBy('id', 'desc').offset(most).limit(MOST_KEPT).execute()
  const old = await ended
    .where('created_at', '<', new Date(Date.now() - LONGEST_KEPT_MS))
    .limit(MOST_KEPT)
    .execute()
  const gone = [...(await tooMany('=', MOST_REFUSED)), ...(await tooMany('<>', MOST_KEPT)), ...old]
  if (gone.length > 0) await deleteRows(queries, webhookDeliveries, { id: [...new Set(gone.map(({ id }) => id))] })
}

/** Condition for messages sent to a connection of a push source: they name no plugin, and neither do rows of earlier versions. */
export const isMessage = (where: RawRecord): RawRecord =>
  where.or([where('plugin', '=', ''), where('plugin', 'is', null)])

/** Called when the connection of a push source is deleted. */
export async function forgetMessages(queries: Queries, connectionId: number): Promise<void> {
  await queries.deleteFrom(webhookDeliveries.name).where('connection_id', '=', connectionId).where(isMessage).execute()
}

/** Called when the connection of a source is deleted. */
export async function forgetDeliveries(queries: Queries, place: Place): Promise<void> {
  await deleteRows(queries, deliverySecrets, whereOf(place))
  await deleteRows(queries, webhookDeliveries, whereOf(place))
}
