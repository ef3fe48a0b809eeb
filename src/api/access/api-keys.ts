/** Keys for programs: stored as digests, shown once, limited to paths and in time. */

import { randomInt } from 'node:crypto'
import { type Expression, type SqlBool, sql } from 'kysely'
import { z } from 'zod'
import { pathMatcher } from '../../basics/user-patterns.ts'
import { type Grant, ROLES, type Role } from '../../config/config.ts'
import { type Actor, recordChange } from '../../control-plane/audit/record.ts'
import { shownColumns } from '../../control-plane/shown-columns.ts'
import type { Listed, Paged, QueryOf } from '../../control-plane/store.ts'
import {
  deleteRows,
  findRow,
  insertRow,
  publicRow,
  type Queries,
  selectPage,
  selectRows,
  updateRows,
} from '../../control-plane/store.ts'
import type { Database } from '../../database/database.ts'
import { oneAtATime } from '../../database/line.ts'
import { among, readByKeys } from '../../database/pieces.ts'
import type { RowOf } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { apiKeyRoles, apiKeys } from '../../system/access.ts'
import type { User } from './identity.ts'
import { EVERYTHING } from './roles.ts'

export const apiKey = z
  .object(shownColumns(apiKeys))
  .extend({
    /** In plain text: only in the answer that creates or renews the key, never again. */
    apiKey: z.string().optional(),
    role: z.enum(ROLES).optional().meta({ description: 'Left out: everything that its paths allow.' }),
    projects: z
      .array(z.string())
      .optional()
      .meta({ description: 'The projects that the role applies to. Left out: all.' }),
  })
  .meta({ id: 'ApiKey' })
export type ApiKey = z.infer<typeof apiKey>
interface NewApiKey {
  readonly name: string
  readonly type: string
  readonly allowedPath: string
  readonly expiredAt?: Date
  readonly extra?: string
  readonly role?: Role | undefined
  readonly projects?: readonly string[] | undefined
}
interface ApiKeyService {
  list(page: Paged): Promise<Listed<ApiKey>>
  /** Keys that a plugin made, which `list` leaves out; `extra` says what each is for. */
  listOf(type: string): Promise<readonly ApiKey[]>
  create(key: NewApiKey, actor: Actor): Promise<ApiKey>
  /** The old key stops working. */
  renew(id: number, actor: Actor): Promise<ApiKey>
  remove(id: number, actor: Actor): Promise<void>
  /** Returns the user that a request with this key acts for. `path` is without the /rest prefix. */
  verify(key: string, path: string): Promise<User>
}

const LENGTH = 128
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const newKey = () => Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')

/** Type of the keys made on the web page. Keys made by plugins are listed with their connections instead. */
const LISTED_TYPE = 'devlake'

type Row = RowOf<typeof apiKeys> & { readonly role: string; readonly projects: readonly string[] }

/** Adds the role of each key and the projects in which it applies. */
async function withRoles(queries: Queries, rows: readonly RowOf<typeof apiKeys>[]): Promise<Row[]> {
  const held = await readByKeys(
    rows.map(({ id }) => id),
    (ids) =>
      selectRows(queries, apiKeyRoles, (query) =>
        query.where(among(sql.ref('api_key_id'), ids) as Expression<SqlBool>),
      ),
  )
  const byKey = new Map(held.map((each) => [each.api_key_id, each]))
  return rows.map((row) => {
    const { role = '', projects } = byKey.get(row.id) ?? {}
    return { ...row, role, projects: projects ?? [] }
  })
}

function publicKey(row: Row): ApiKey {
  const { role, projects } = row
  const { apiKey: _digest, ...key } = publicRow(apiKeys, row)
  return { ...key, ...(role && { role: role as Role }), ...(projects.length > 0 && { projects: [...projects] }) }
}

function grantsOf({ role, projects }: Row): readonly Grant[] {
  if (!role) return EVERYTHING
  return projects.length === 0 ? [{ role: role as Role }] : projects.map((project) => ({ role: role as Role, project }))
}

const MOST_MATCHERS = 1000

/**
 * The pattern must match the whole path, so that a key for /plugins/webhook does not open a path that merely contains it.
 * DevLake's form suggests patterns without the leading slash.
 */
function opener(): (row: Row, path: string) => boolean {
  const matchers = new Map<string, ReturnType<typeof pathMatcher>>()
  return ({ allowed_path }, path) => {
    const matches = matchers.get(allowed_path) ?? pathMatcher(allowed_path)
    if (matchers.size >= MOST_MATCHERS) matchers.clear()
    matchers.set(allowed_path, matches)
    return matches(path, path.slice(1))
  }
}

/** Finds `.` and `..`, also encoded: a server behind a proxy may resolve them to a path that the pattern does not allow. */
function leadsUp(path: string): boolean {
  let plain = path
  for (let times = 0; times < 3; times++) plain = plain.replace(/%(25|2e|2f|5c)/gi, (code) => decodeURIComponent(code))
  return plain.split(/[/\\]/).some((part) => part === '..' || part === '.')
}

const unknown = (id: number) => new UserError(`There is no API key ${id}.`, { status: 404 })

export function apiKeyService(database: Database, secrets: Secrets): ApiKeyService {
  const { kysely } = database
  const opens = opener()
  /** Runs one at a time, so that two requests cannot take the same name. */
  const alone = <Result>(act: (inside: Database) => Promise<Result>) =>
    oneAtATime(database, 'API keys', () => database.transaction(act))
  async function stored(id: number, queries: Queries = kysely) {
    const row = await findRow(queries, apiKeys, { id })
    if (!row) throw unknown(id)
    return (await withRoles(queries, [row]))[0] as Row
  }

  return {
    async list(page) {
      const ofType = (query: QueryOf<typeof apiKeys>) => query.where('type', '=', LISTED_TYPE)
      const { count, items } = await selectPage(kysely, apiKeys, page, ofType, [['id', 'desc']])
      return { count, items: (await withRoles(kysely, items)).map(publicKey) }
    },
    async listOf(type) {
      const rows = await selectRows(kysely, apiKeys, (query) => query.where('type', '=', type).orderBy('id'))
      return (await withRoles(kysely, rows)).map(publicKey)
    },
    async create({ name, type, allowedPath, expiredAt, extra = '', role = '', projects = [] }, actor) {
      const plain = newKey()
      const who = { creator: actor.name, creator_email: actor.email, updater: actor.name, updater_email: actor.email }
      const row = { ...who, name, type, extra, allowed_path: allowedPath, expired_at: expiredAt ?? null }
      return alone(async ({ kysely: inside }) => {
        if (await findRow(inside, apiKeys, { name })) {
          throw new UserError(`There is already an API key ${name}: choose another name.`)
        }
        const id = await insertRow(inside, apiKeys, { ...row, api_key: secrets.digest(plain) })
        if (role) await insertRow(inside, apiKeyRoles, { api_key_id: id, role, projects })
        const key = publicKey(await stored(id, inside))
        await recordChange(inside, actor, { action: 'create', subject: 'API key', key: name, before: null, after: key })
        return { ...key, apiKey: plain }
      })
    },
    async renew(id, actor) {
      const plain = newKey()
      const who = { updater: actor.name, updater_email: actor.email }
      return database.transaction(async ({ kysely: inside }) => {
        const before = publicKey(await stored(id, inside))
        await updateRows(inside, apiKeys, { id }, { ...who, api_key: secrets.digest(plain) })
        const after = publicKey(await stored(id, inside))
        await recordChange(inside, actor, { action: 'update', subject: 'API key', key: before.name, before, after })
        return { ...after, apiKey: plain }
      })
    },
    remove: (id, actor) =>
      database.transaction(async ({ kysely: inside }) => {
        const before = publicKey(await stored(id, inside))
        if ((await deleteRows(inside, apiKeys, { id })) === 0) throw unknown(id)
        await deleteRows(inside, apiKeyRoles, { api_key_id: id })
        const change = { action: 'delete', subject: 'API key', key: before.name, before, after: null } as const
        await recordChange(inside, actor, change)
      }),
    async verify(key, path) {
      const found = await findRow(kysely, apiKeys, { api_key: secrets.digest(key) })
      const [row] = await withRoles(kysely, found ? [found] : [])
      if (!row) throw new UserError('This API key is not valid: create one, or renew it.', { status: 403 })
      if (row.expired_at && row.expired_at < new Date()) {
        throw new UserError(`The API key ${row.name} has expired: create another.`, { status: 403 })
      }
      if (leadsUp(path) || !opens(row, path)) {
        throw new UserError(`The API key ${row.name} does not allow ${path}.`, { status: 403 })
      }
      return { id: `api-key:${row.id}`, name: row.creator, email: row.creator_email, grants: grantsOf(row) }
    },
  }
}
