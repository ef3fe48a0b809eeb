/** Keys for programs: stored as digests, shown once, limited to paths and in time. */
import { randomInt } from 'node:crypto'
import { type Actor, recordChange } from '../../audit/audit.ts'
import type { Database } from '../../database/database.ts'
import type { RowOf } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import type { Listed, Paged } from '../../pipelines/services.ts'
import { deleteRows, findRow, insertRow, publicRow, selectPage, selectRows, updateRows } from '../../pipelines/store.ts'
import { compilePattern } from '../../plugin-kit/patterns.ts'
import type { Secrets } from '../../secrets.ts'
import { apiKeys } from '../../system/access.ts'

export interface ApiKey {
  readonly id: number
  readonly name: string
  readonly allowedPath: string
  readonly expiredAt: Date | null
  readonly type: string
  readonly extra: string
  /** In clear, right after it was made and never again. */
  readonly apiKey?: string
}
export interface NewApiKey {
  readonly name: string
  readonly type: string
  readonly allowedPath: string
  readonly expiredAt?: Date
  readonly extra?: string
}
export interface ApiKeyService {
  list(page: Paged): Promise<Listed<ApiKey>>
  /** Those that a plugin made, which `list` leaves out; `extra` says what each is for. */
  listOf(type: string): Promise<readonly ApiKey[]>
  create(key: NewApiKey, actor: Actor): Promise<ApiKey>
  /** The old key dies. */
  renew(id: number, actor: Actor): Promise<ApiKey>
  remove(id: number, actor: Actor): Promise<void>
  /** Who a request with this key speaks for. `path` is without the /rest prefix. */
  verify(key: string, path: string): Promise<Pick<Actor, 'name' | 'email'>>
}

const LENGTH = 128
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const newKey = () => Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')

/** What keys of the web page are called; those of plugins are listed with their connections. */
const LISTED_TYPE = 'devlake'

export function apiKeyService(database: Database, secrets: Secrets): ApiKeyService {
  const { kysely } = database
  const shown = (row: RowOf<typeof apiKeys>): ApiKey => {
    const { apiKey: _digest, ...key } = publicRow(apiKeys, row)
    return key as ApiKey
  }
  async function stored(id: number) {
    const row = await findRow(kysely, apiKeys, { id })
    if (!row) throw new UserError(`There is no API key ${id}.`, { status: 404 })
    return row
  }

  return {
    async list(page) {
      const ofType = (query: any) => query.where('type', '=', LISTED_TYPE)
      const { count, items } = await selectPage(kysely, apiKeys, page, ofType, [['id', 'desc']])
      return { count, items: items.map(shown) }
    },
    async listOf(type) {
      const rows = await selectRows(kysely, apiKeys, (query) => query.where('type', '=', type).orderBy('id'))
      return rows.map(shown)
    },
    async create({ name, type, allowedPath, expiredAt, extra = '' }, actor) {
      if (await findRow(kysely, apiKeys, { name })) {
        throw new UserError(`There is already an API key ${name}: choose another name.`)
      }
      const plain = newKey()
      const who = { creator: actor.name, creator_email: actor.email, updater: actor.name, updater_email: actor.email }
      const row = { ...who, name, type, extra, allowed_path: allowedPath, expired_at: expiredAt ?? null }
      const id = await insertRow(kysely, apiKeys, { ...row, api_key: secrets.digest(plain) })
      const key = shown(await stored(id))
      await recordChange(database, actor, { action: 'create', subject: 'API key', key: name, before: null, after: key })
      return { ...key, apiKey: plain }
    },
    async renew(id, actor) {
      const before = shown(await stored(id))
      const plain = newKey()
      const who = { updater: actor.name, updater_email: actor.email }
      await updateRows(kysely, apiKeys, { id }, { ...who, api_key: secrets.digest(plain) })
      const after = shown(await stored(id))
      await recordChange(database, actor, { action: 'update', subject: 'API key', key: before.name, before, after })
      return { ...after, apiKey: plain }
    },
    async remove(id, actor) {
      const before = shown(await stored(id))
      await deleteRows(kysely, apiKeys, { id })
      const change = { action: 'delete', subject: 'API key', key: before.name, before, after: null } as const
      await recordChange(database, actor, change)
    },
    async verify(key, path) {
      const row = await findRow(kysely, apiKeys, { api_key: secrets.digest(key) })
      if (!row) throw new UserError('This API key is not valid: create one, or renew it.', { status: 403 })
      if (row.expired_at && row.expired_at < new Date()) {
        throw new UserError(`The API key ${row.name} has expired: create another.`, { status: 403 })
      }
      // Anchored, so that a key for /plugins/webhook opens no path that merely contains it.
      if (!compilePattern(row.allowed_path, 'allowedPath').matcher(path).matches()) {
        throw new UserError(`The API key ${row.name} does not open ${path}.`, { status: 403 })
      }
      return { name: row.creator, email: row.creator_email }
    },
  }
}
