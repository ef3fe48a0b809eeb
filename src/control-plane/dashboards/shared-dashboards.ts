/** Links by which anybody may look at one dashboard with fixed values, until they are revoked. */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Database } from '../../database/database.ts'
import type { RowOf } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import { bounded } from '../../plugin-kit/spec/request-values.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { sharedDashboards } from '../../system/dashboards.ts'
import { type Actor, recordChange } from '../audit/record.ts'
import { type Shown, shownColumns } from '../shown-columns.ts'
import { deleteRows, findRow, insertRow, selectRows } from '../store.ts'

export const values = z
  .record(bounded(50), z.union([bounded(500), z.array(bounded(500)).max(500)]))
  .meta({ description: 'The chosen values, by variable name.' })
export const sharedDashboardRecord = z
  .object(shownColumns(sharedDashboards))
  .omit({ tokenDigest: true, variables: true, rangeFrom: true, rangeTo: true, makerId: true, updatedAt: true })
  .extend({
    values,
    /** Stored as entered, so that a relative time such as `now-6M` keeps moving. */
    from: z.string(),
    to: z.string(),
  })
export type SharedDashboard = Shown<typeof sharedDashboardRecord>
type NewSharedDashboard = Omit<SharedDashboard, 'id' | 'maker' | 'createdAt'>

const TOKEN_BYTES = 32
const MOST = 500

const recordOf = (row: RowOf<typeof sharedDashboards>): SharedDashboard => ({
  id: row.id,
  dashboard: row.dashboard,
  title: row.title,
  values: row.variables ?? {},
  from: row.range_from,
  to: row.range_to,
  maker: row.maker,
  expiresAt: row.expires_at,
  createdAt: row.created_at,
})

export const listSharedDashboards = async ({ kysely }: Database): Promise<SharedDashboard[]> =>
  (await selectRows(kysely, sharedDashboards, (query) => query.orderBy('id', 'desc'))).map(recordOf)

const unknown = (id: number) =>
  new UserError(`There is no link ${id}: it may have been revoked already.`, { status: 404 })

const get = async ({ kysely }: Database, id: number) => {
  const row = await findRow(kysely, sharedDashboards, { id })
  if (!row) throw unknown(id)
  return recordOf(row)
}

/** Creates a link. The token is only in this answer; afterwards only its digest exists. */
export async function shareDashboard(
  database: Database,
  secrets: Secrets,
  { values, from, to, expiresAt, ...link }: NewSharedDashboard,
  actor: Actor,
): Promise<SharedDashboard & { readonly token: string }> {
  if (expiresAt && expiresAt <= new Date()) throw new UserError('expiresAt has passed already: choose a later time.')
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  return database.transaction(async (inside) => {
    if ((await listSharedDashboards(inside)).length >= MOST) {
      throw new UserError(`There are ${MOST} links already: revoke one that nobody needs.`)
    }
    const id = await insertRow(inside.kysely, sharedDashboards, {
      ...link,
      token_digest: secrets.digest(token),
      variables: values,
      range_from: from,
      range_to: to,
      expires_at: expiresAt,
      maker_id: actor.id,
      maker: actor.name,
    })
    const after = await get(inside, id)
    const change = { action: 'create', subject: 'public link', key: after.title, before: null, after } as const
    await recordChange(inside.kysely, actor, change)
    return { ...after, token }
  })
}

export const revokeSharedDashboard = (database: Database, id: number, actor: Actor): Promise<void> =>
  database.transaction(async (inside) => {
    const before = await get(inside, id)
    if ((await deleteRows(inside.kysely, sharedDashboards, { id })) === 0) throw unknown(id)
    const change = { action: 'delete', subject: 'public link', key: before.title, before, after: null } as const
    await recordChange(inside.kysely, actor, change)
  })

export async function sharedByToken({ kysely }: Database, secrets: Secrets, token: string): Promise<SharedDashboard> {
  const row = await findRow(kysely, sharedDashboards, { token_digest: secrets.digest(token) })
  if (row && (row.expires_at === null || row.expires_at > new Date())) return recordOf(row)
  throw new UserError('This link no longer works: it was revoked, or it has expired. Ask the sender for a new one.', {
    status: 404,
  })
}
