/** The scopes that projects collect, each with the records that rest on it. */
import { sql } from 'kysely'
import { receipts } from '../../plugin-kit/raw/receipts.ts'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { pluginsOfFamily } from '../../plugin-kit/task/family.ts'
import { settingsTables } from '../../plugin-kit/task/settings-tables.ts'
import { blueprintScopes, blueprints } from '../../system/projects.ts'
import { scopeParams } from '../scopes/scope-data.ts'
import { allConnected, scopeKey, scopeTitle } from '../sources.ts'
import { findRow, selectRows } from '../store.ts'
import { type AttentionQuestion, type Context, isAsked } from './question.ts'

export interface CollectedScope {
  readonly source: PluginSpec
  readonly connectionId: number
  /** The name that people know, such as `acme/web`. */
  readonly name: string
  readonly project: string
  readonly blueprintId: number
  /** Marks the rows of the scope, whichever plugin of the family collected them. */
  readonly marks: readonly string[]
  readonly records: number
  /** When a list of it last came whole. */
  readonly lastAt: Date | null
}

export const markOf = (plugin: string, params: string): string => `${plugin} ${params}`

interface Chosen {
  readonly plugin: string
  readonly connection: number
  readonly scope: string
  readonly project: string
  readonly blueprint: number
}

export async function collectedScopes(
  { database, plugins }: Context,
  question: Pick<AttentionQuestion, 'projects'>,
): Promise<CollectedScope[]> {
  const { kysely } = database
  const asked = question.projects ? isAsked('b.project_name', question) : sql`1 = 1`
  const { rows } = await sql<Chosen>`select s.plugin_name as plugin, s.connection_id as connection, s.scope_id as scope,
      b.project_name as project, b.id as blueprint
    from ${sql.table(blueprintScopes.name)} s inner join ${sql.table(blueprints.name)} b on b.id = s.blueprint_id
    where ${asked}`.execute(kysely)
  const stored = await storedByMark(database)
  const found: CollectedScope[] = []
  for (const own of Map.groupBy(rows, ({ plugin, connection }) => `${plugin} ${connection}`).values()) {
    const [{ plugin, connection }] = own as [Chosen]
    const { source } = allConnected(plugins).find(({ name }) => name === plugin) ?? {}
    // A source that only sends to us is not collected.
    if (!source) continue
    const key = scopeKey(source)
    const kept = await selectRows(kysely, source.scope.table, (query) => query.where('connection_id', '=', connection))
    const rowOf = new Map(kept.map((row) => [String(row[key]), row]))
    const family = pluginsOfFamily(plugins, source.name).map(({ name }) => name)
    for (const { scope, project, blueprint } of own) {
      const row = rowOf.get(String(scope))
      if (!row) continue
      const params = scopeParams(source, Number(connection), row)
      const marks = family.map((name) => markOf(name, params))
      const receipt = marks.flatMap((mark) => stored.get(mark) ?? [])
      found.push({
        source,
        connectionId: Number(connection),
        name: scopeTitle(source, row),
        project,
        blueprintId: Number(blueprint),
        marks,
        records: receipt.reduce((sum, { records }) => sum + records, 0),
        lastAt: receipt.reduce<Date | null>((last, { at }) => (at && (!last || at > last) ? at : last), null),
      })
    }
  }
  return found
}

async function storedByMark({ kysely }: Context['database']) {
  const { rows } = await sql<{ plugin: string; params: string; records: number; at: Date | null }>`
    select plugin, params, sum(stored) as records, max(last_success_at) as at from ${sql.table(receipts.name)}
    group by plugin, params`.execute(kysely)
  return Map.groupBy(
    rows.map(({ plugin, params, records, at }) => ({ mark: markOf(plugin, params), records: Number(records), at })),
    ({ mark }) => mark,
  )
}

/** `Jira connection main`; undefined if it does not exist. */
export async function connectionInWords(
  { database }: Context,
  source: PluginSpec,
  id: number,
): Promise<string | undefined> {
  const row = await findRow(database.kysely, settingsTables(source).connections, { id })
  return row && `${source.title} connection ${row.name}`
}

/** The records that rest on scopes. Those that several projects collect count once. */
export const recordsOf = (scopes: readonly CollectedScope[]): number =>
  [...new Map(scopes.map((scope) => [scope.marks.join(), scope.records])).values()].reduce((sum, each) => sum + each, 0)
