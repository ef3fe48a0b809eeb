/** Creates, changes and deletes alerts, each with an entry in the audit log. */
import { sql } from 'kysely'
import { type Actor, recordChange } from '../control-plane/audit/record.ts'
import { unknownProject } from '../control-plane/projects/unknown-project.ts'
import { deleteRows, findRow, insertRow, type Queries, selectRows, updateRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { among, onePiece } from '../database/pieces.ts'
import { retrying } from '../database/write.ts'
import { UserError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { metricNamed } from '../metrics/index.ts'
import { requireOpenEndpoint } from '../plugin-kit/http/index.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { alertMessages, alerts } from '../system/alerts.ts'
import { projects } from '../system/projects.ts'
import {
  type AlertRow,
  type KINDS,
  type MessageRow,
  publicAddress,
  publicAlert,
  type Target,
  targetOf,
  WEEKDAYS,
} from './records.ts'

export interface AlertSettings {
  readonly name: string
  readonly project: string
  readonly metric: string
  readonly direction: 'above' | 'below'
  readonly threshold: number
  readonly windowDays: number
  readonly forDays: number
  readonly weekday: (typeof WEEKDAYS)[number]
  readonly hour: number
  readonly target: { readonly kind: Target['kind']; readonly url?: string; readonly secret?: string }
  readonly enable: boolean
}
export interface AlertContext {
  readonly database: Database
  readonly secrets: Secrets
}
/** The context for code that follows alerts: its messages also say where their numbers can be seen. */
export interface FollowContext extends AlertContext {
  readonly log: Logger
  /** The beginning of links in messages. */
  readonly publicUrl: string
}
type Kind = (typeof KINDS)[number]

const DEFAULTS = { windowDays: 30, forDays: 0, weekday: 'monday', hour: 8, enable: true } as const
const LEAST_SECRET = 16

/** A change of one of these makes earlier findings worthless. */
const DECISIVE: readonly (keyof AlertRow)[] = ['project_name', 'metric', 'direction']

const unknown = (id: number) => new UserError(`There is no alert ${id}.`, { status: 404 })

export function alertService({ database, secrets }: AlertContext) {
  async function stored(id: number, queries: Queries = database.kysely): Promise<AlertRow> {
    const row = await findRow(queries, alerts, { id })
    if (!row) throw unknown(id)
    return row
  }
  const complete = async (row: AlertRow, queries: Queries = database.kysely) =>
    publicAlert(row, (await lastMessages(queries, [row.id])).get(row.id), secrets)

  async function columnsOf(kind: Kind, settings: Partial<AlertSettings>, before?: AlertRow) {
    const columns = kind === 'digest' ? digestColumns(settings) : thresholdColumns(settings, before)
    const name = settings.name?.trim()
    if (name === '') throw new UserError('name is empty: enter a name for the alert.')
    if (settings.project !== undefined && settings.project !== '')
      await requireProject(database.kysely, settings.project)
    return {
      ...columns,
      ...(name !== undefined && { name }),
      ...(settings.project !== undefined && { project_name: settings.project }),
      ...(settings.enable !== undefined && { enable: settings.enable }),
      ...(settings.target && (await targetColumns(settings.target, before, secrets))),
    }
  }

  return {
    stored,
    async list(visible?: readonly string[]) {
      const rows = await selectRows(database.kysely, alerts, (query) => query.orderBy('id'))
      const own = rows.filter(({ project_name }) => !visible || visible.includes(project_name))
      const last = await lastMessages(
        database.kysely,
        own.map(({ id }) => id),
      )
      return own.map((row) => publicAlert(row, last.get(row.id), secrets))
    },
    get: async (id: number) => complete(await stored(id)),
    async create(kind: Kind, input: Partial<AlertSettings>, actor: Actor) {
      requireAll(kind, input)
      const columns = await columnsOf(kind, { ...DEFAULTS, ...input })
      return retrying(database, () =>
        database.transaction(async ({ kysely: inside }) => {
          // The first digest is sent at its next regular time.
          const row = { ...columns, kind, looked_at: kind === 'digest' ? new Date() : null }
          const id = await insertRow(inside, alerts, row)
          const after = await complete(await stored(id, inside), inside)
          await recordChange(inside, actor, {
            action: 'create',
            subject: 'alert',
            key: after.name,
            before: null,
            after,
          })
          return after
        }),
      )
    },
    async update(id: number, input: Partial<AlertSettings>, actor: Actor) {
      const seen = await stored(id)
      const columns: Partial<AlertRow> = await columnsOf(seen.kind as Kind, input, seen)
      return retrying(database, () =>
        database.transaction(async ({ kysely: inside }) => {
          const row = await stored(id, inside)
          const isOther = DECISIVE.some((name) => columns[name] !== undefined && columns[name] !== row[name])
          const afresh = isOther ? { is_told: false, state: '', value: null, broken_since: null } : {}
          const looked_at = row.kind === 'digest' ? new Date() : null
          const changes = { ...columns, ...afresh, looked_at, problem: '', version: row.version + 1 }
          const before = await complete(row, inside)
          await updateRows(inside, alerts, { id }, changes)
          const after = await complete(await stored(id, inside), inside)
          await recordChange(inside, actor, { action: 'update', subject: 'alert', key: before.name, before, after })
          return after
        }),
      )
    },
    remove: (id: number, actor: Actor) =>
      retrying(database, () =>
        database.transaction(async ({ kysely: inside }) => {
          const before = await complete(await stored(id, inside), inside)
          await deleteRows(inside, alertMessages, { alert_id: id })
          if ((await deleteRows(inside, alerts, { id })) === 0) throw unknown(id)
          await recordChange(inside, actor, {
            action: 'delete',
            subject: 'alert',
            key: before.name,
            before,
            after: null,
          })
        }),
      ),
  }
}

function requireAll(kind: Kind, input: Partial<AlertSettings>): void {
  const needed =
    kind === 'digest'
      ? (['name', 'target'] as const)
      : (['name', 'target', 'project', 'metric', 'direction', 'threshold'] as const)
  const missing = needed.filter((name) => input[name] === undefined || input[name] === '')
  if (missing.length > 0) throw new UserError(`Add ${missing.join(', ')}: every alert of the kind ${kind} needs it.`)
}

function refuseForeign(
  kind: Kind,
  input: Partial<AlertSettings>,
  names: readonly (keyof AlertSettings)[],
  defaults: object = DEFAULTS,
) {
  const foreign = names.find(
    (name) => input[name] !== undefined && input[name] !== new Map(Object.entries(defaults)).get(name),
  )
  if (foreign) throw new UserError(`${foreign} is not used for a ${kind}: leave it out.`)
}

function digestColumns(settings: Partial<AlertSettings>) {
  refuseForeign('digest', settings, ['metric', 'direction', 'threshold', 'windowDays', 'forDays'])
  const { weekday, hour } = settings
  return {
    ...(weekday !== undefined && { weekday: WEEKDAYS.indexOf(weekday) }),
    ...(hour !== undefined && { hour }),
  }
}

function thresholdColumns(settings: Partial<AlertSettings>, before?: AlertRow) {
  refuseForeign('threshold', settings, ['weekday', 'hour'])
  if (settings.project === '') throw new UserError('project is empty: name the project whose metric it is.')
  const { metric: name = before?.metric ?? '', direction, threshold, windowDays, forDays } = settings
  const metric = metricNamed(name)
  const limit = threshold ?? before?.threshold ?? 0
  if (metric.unit === 'share' && (limit < 0 || limit > 1)) {
    throw new UserError(
      `threshold ${limit} is not a share: ${metric.title} is between 0 and 1, for example 0.15 for 15 %.`,
    )
  }
  return {
    metric: metric.name,
    ...(direction !== undefined && { direction }),
    ...(threshold !== undefined && { threshold }),
    ...(windowDays !== undefined && { window_days: windowDays }),
    ...(forDays !== undefined && { for_days: forDays }),
  }
}

async function targetColumns(input: AlertSettings['target'], before: AlertRow | undefined, secrets: Secrets) {
  const known = before ? targetOf(before, secrets) : undefined
  const isKept = input.url === undefined || (known && input.url === publicAddress(known.url))
  const url = isKept ? known?.url : input.url
  if (!url) throw new UserError('target.url is missing: add the address that gets the messages.')
  const parsed = URL.parse(url)
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new UserError('target.url is not an address: it must begin with https:// or http://.')
  }
  if (!isKept) await requireOpenEndpoint(url)
  const secret = input.secret || (known?.kind === input.kind ? known.secret : '')
  if (input.kind === 'webhook' && secret.length < LEAST_SECRET) {
    throw new UserError(`target.secret must be at least ${LEAST_SECRET} characters: messages are signed with it.`)
  }
  if (input.kind === 'slack' && input.secret) {
    throw new UserError('target.secret is not used for Slack: leave it out.')
  }
  return { target: input.kind, url: secrets.encrypt(url), secret: secret === '' ? '' : secrets.encrypt(secret) }
}

async function requireProject(queries: Queries, name: string): Promise<void> {
  if (!(await findRow(queries, projects, { name }))) throw await unknownProject(queries, name, 400)
}

/** The newest message of each alert. */
async function lastMessages(queries: Queries, ids: readonly number[]): Promise<Map<number, MessageRow>> {
  if (ids.length === 0) return new Map()
  const rows = await selectRows(queries, alertMessages, (query) =>
    query.where(
      'id',
      'in',
      queries
        .selectFrom(alertMessages.name)
        .where(among(sql`alert_id`, onePiece(ids)))
        .groupBy('alert_id')
        .select((builder) => builder.fn.max('id').as('id')),
    ),
  )
  return new Map(rows.map((row) => [row.alert_id, row]))
}
