/** Finds the names that rules refer to: stored names, or some that a source gives. */
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { messageOf } from '../../errors.ts'
import type { ApiClient } from '../http/index.ts'
import type { PluginSpec } from '../spec/plugin.ts'
import type { FoundName, FoundNames, NameKind, SampledName } from '../spec/rule-names.ts'

/** Limit for the names of each kind. */
export const MOST_NAMES = 200
/** Limit for the rows that are read: a quick list of names is worth more than exact counts. */
const MOST_ROWS = 200_000
const LONGEST_NAME = 1000

/** Finds the stored names in scopes with this scope config, or in all scopes. */
export async function storedNames(
  { kysely }: Database,
  { scope, scopeConfig: { names = {} } }: PluginSpec,
  connectionId: number,
  scopeConfigId: number | undefined,
): Promise<FoundNames> {
  const found = new Map<string, FoundName[]>()
  const own = (column: string) => sql`select ${sql.id(column)} from ${sql.table(scope.table.name)}
    where connection_id = ${connectionId} and scope_config_id = ${scopeConfigId}`
  for (const [kind, described] of Object.entries(names)) {
    const { table, column, labelColumn, groupColumn, scope: columns, through, nameIn, words } = described
    const [scopeColumn, ofScopes] = columns
    const alias = through ? 'through' : 'own'
    const join = through
      ? sql`inner join ${sql.table(through.table.name)} as through on ${sql.join(
          Object.entries(through.on).map(
            ([theirs, ours]) => sql`${sql.ref(`through.${theirs}`)} = ${sql.ref(`own.${ours}`)}`,
          ),
          sql` and `,
        )}`
      : sql``
    const isOwn =
      scopeConfigId === undefined ? sql`` : sql`and ${sql.ref(`${alias}.${scopeColumn}`)} in (${own(ofScopes)})`
    const text = (name: string | undefined) => (name ? sql.ref(`own.${name}`) : sql`''`)
    const { rows } = await sql<{ name: string; label: string; family: string; count: number }>`
      select name, max(label) as label, max(family) as family, count(*) as count from (
        select ${sql.ref(`own.${column}`)} as name, ${text(labelColumn)} as label, ${text(groupColumn)} as family
        from ${sql.table(table.name)} as own ${scopeConfigId === undefined ? sql`` : join}
        where own.connection_id = ${connectionId} ${isOwn} ${containing(sql.ref(`own.${column}`), words)} limit ${sql.lit(MOST_ROWS)}
      ) seen where name <> '' group by name order by count(*) desc, name limit ${sql.lit(MOST_NAMES)}`.execute(kysely)
    const stored = rows.map(({ name, label, family, count }) => ({
      name: (nameIn?.(name) ?? name).slice(0, LONGEST_NAME),
      count: labelColumn ? null : Number(count),
      label: label ?? '',
      group: family ?? '',
    }))
    found.set(kind, nameIn ? together(stored) : stored)
  }
  return found
}

/** Limit for the texts that are searched for a rule. Whether a pattern matches further texts is left to the next run. */
const MOST_TEXTS = 20_000
const TEXTS_AT_ONCE = 500

/** Tells whether a rule matches a text of a connection; undefined: there are no texts, or too many to search. */
export async function isFoundInTexts(
  { kysely }: Database,
  { table, column, alsoIn = [] }: NameKind,
  connectionId: number,
  isFound: (texts: readonly string[]) => Promise<boolean>,
): Promise<boolean | undefined> {
  const columns = [column, ...alsoIn]
  const order = table.keys.map((position) => sql.ref(`own.${table.names[position]}`))
  for (let offset = 0; offset < MOST_TEXTS; offset += TEXTS_AT_ONCE) {
    const { rows } = await sql<Record<string, string | null>>`
      select ${sql.join(columns.map((name) => sql.ref(`own.${name}`)))} from ${sql.table(table.name)} as own
      where own.connection_id = ${connectionId} order by ${sql.join(order)}
      limit ${sql.lit(TEXTS_AT_ONCE)} offset ${sql.lit(offset)}`.execute(kysely)
    if (await isFound(rows.flatMap((row) => columns.map((name) => row[name] ?? '')))) return true
    if (rows.length < TEXTS_AT_ONCE) return offset + rows.length === 0 ? undefined : false
  }
  return undefined
}

const containing = (text: RawBuilder<unknown>, words: readonly string[] | undefined) =>
  words
    ? sql`and (${sql.join(
        words.map((word) => sql`lower(${text}) like ${`%${word}%`}`),
        sql` or `,
      )})`
    : sql``

/** Adds up names that occur several times, because several stored texts can have the same name. */
const together = (names: readonly FoundName[]): FoundName[] =>
  [...Map.groupBy(names, ({ name }) => name)]
    .filter(([name]) => name !== '')
    .map(([, same]) => ({
      ...(same[0] as FoundName),
      count: same.reduce((sum, { count }) => sum + (count ?? 0), 0),
    }))
    .sort((one, other) => other.count - one.count)

/** Asks the source for names with a few requests. If one fails, the names from the others are still shown. */
export async function sampledNames(
  client: ApiClient,
  { scopeConfig: { names = {}, samples = [] } }: PluginSpec,
  scopes: readonly unknown[],
  signal: AbortSignal,
): Promise<{ readonly found: FoundNames; readonly problem: string | null }> {
  const asked = samples.flatMap((sample) =>
    (sample.isForAll ? scopes.slice(0, 1) : scopes).map(async (scope) => {
      const { body, status } = await client.send({ accept: NOTHING_THERE, ...sample.request(scope) }, signal)
      return NOTHING_THERE.includes(status) ? [] : [...sample.names(body)]
    }),
  )
  const answers = await Promise.allSettled(asked)
  const all = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const failed = answers.find((answer) => answer.status === 'rejected')
  const found = Object.entries(names).map(([kind, { words }]) => {
    const isAsked = ({ name }: SampledName) =>
      !words ||
      words.some((word) =>
        String(name ?? '')
          .toLowerCase()
          .includes(word),
      )
    return [kind, counted(all.filter((each) => each.kind === kind && isAsked(each)))] as const
  })
  return { found: new Map(found), problem: failed ? client.redact(messageOf(failed.reason)) : null }
}

/** Statuses for a feature that is switched off in this repository, or hidden from this token. */
const NOTHING_THERE = [403, 404, 410]

function counted(names: readonly SampledName[]): FoundName[] {
  const byName = Map.groupBy(names, ({ name }) => String(name ?? ''))
  return [...byName]
    .filter(([name]) => name !== '')
    .map(([name, same]) => ({
      name: name.slice(0, LONGEST_NAME),
      count: same[0]?.isUncounted ? null : same.length,
      label: same[0]?.label ?? '',
      group: same[0]?.group ?? '',
    }))
    .sort((one, other) => (other.count ?? 0) - (one.count ?? 0) || (one.name < other.name ? -1 : 1))
    .slice(0, MOST_NAMES)
}
