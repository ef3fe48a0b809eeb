/** Measures how much the database stores, by table and by scope. */
import { sql } from 'kysely'
import { domainTables } from '../../domain/index.ts'
import { rawTable } from '../../plugin-kit/raw/raw-table.ts'
import { systemTables } from '../../system/index.ts'
import type { ServiceContext } from '../services.ts'
import { type MarkedScope, markedScopes } from './marked-scopes.ts'

interface StoredTable {
  readonly name: string
  readonly layer: Layer
  /** Includes indexes. */
  readonly bytes: number
  /** As the database server estimates it. */
  readonly records: number
}
interface StoredScope extends MarkedScope {
  /** The number of raw records. */
  readonly records: number
  /** Its share of the size of the raw tables, in proportion to its records. */
  readonly bytes: number
}
export interface Storage {
  readonly countedAt: Date
  readonly bytes: number
  readonly layers: readonly StoredLayer[]
  /** The largest ones only. */
  readonly tables: readonly StoredTable[]
  /** The largest ones only. */
  readonly scopes: readonly StoredScope[]
  /** Raw tables too large to be counted by scope in a moment. */
  readonly uncounted: readonly string[]
}

/** The layers through which data passes, then Weir's own tables and those of others. */
export const LAYERS = ['raw', 'tool', 'domain', 'system', 'other'] as const
type Layer = (typeof LAYERS)[number]
interface StoredLayer {
  readonly layer: Layer
  readonly bytes: number
  readonly tables: number
}

const MOST_TABLES = 1000
const MOST_SCOPES = 200
/** Counting reads an index, about a twentieth of the table. */
const MOST_BYTES_COUNTED = 2 * 1024 ** 3

const domainNames = new Set(domainTables.map(({ name }) => name))
const systemNames = new Set(systemTables.map(({ name }) => name))

/** Tells the layer of a table by its name; `other` tables do not belong to Weir. */
function layerOf(name: string): Layer {
  if (name.startsWith('_raw_')) return 'raw'
  if (name.startsWith('_tool_')) return 'tool'
  if (domainNames.has(name)) return 'domain'
  return systemNames.has(name) || /^_(weir|devlake)_/.test(name) ? 'system' : 'other'
}

export async function tablesOf({
  database: { kysely, dialect },
}: Pick<ServiceContext, 'database'>): Promise<StoredTable[]> {
  const { rows } = await sql.raw<Omit<StoredTable, 'layer'>>(dialect.tableSizes).execute(kysely)
  return rows
    .map(({ name, bytes, records }) => ({ name, layer: layerOf(name), bytes: Number(bytes), records: Number(records) }))
    .sort((one, other) => other.bytes - one.bytes || (one.name < other.name ? -1 : 1))
}

const inLayers = (tables: readonly StoredTable[]): StoredLayer[] =>
  LAYERS.flatMap((layer) => {
    const own = tables.filter((table) => table.layer === layer)
    return own.length === 0
      ? []
      : [{ layer, bytes: own.reduce((sum, { bytes }) => sum + bytes, 0), tables: own.length }]
  })

export const layersOf = async (context: ServiceContext): Promise<StoredLayer[]> => inLayers(await tablesOf(context))

export async function readStorage(context: ServiceContext): Promise<Storage> {
  const tables = await tablesOf(context)
  return {
    countedAt: new Date(),
    bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
    layers: inLayers(tables),
    tables: tables.slice(0, MOST_TABLES),
    ...(await byScope(context, tables)),
  }
}

async function byScope(
  context: ServiceContext,
  tables: readonly StoredTable[],
): Promise<Pick<Storage, 'scopes' | 'uncounted'>> {
  const bytesOf = new Map(tables.map(({ name, bytes }) => [name, bytes]))
  const owned = context.plugins
    .flatMap(({ name, source }) =>
      (source?.entities ?? []).flatMap(({ spec }) =>
        spec.raw ? { plugin: name, table: rawTable(spec.raw).name } : [],
      ),
    )
    .map((each) => ({ ...each, bytes: bytesOf.get(each.table) ?? 0 }))
    .sort((one, other) => one.bytes - other.bytes)
  const find = await markedScopes(context)
  const found = new Map<MarkedScope, { records: number; bytes: number }>()
  const done = new Set<string>()
  const uncounted: string[] = []
  let read = 0
  for (const { plugin, table, bytes } of owned) {
    if (done.has(table)) continue
    done.add(table)
    read += bytes
    if (read > MOST_BYTES_COUNTED) {
      uncounted.push(table)
      continue
    }
    const { rows } = await sql<{ params: string; records: number }>`
      select params, count(*) as records from ${sql.table(table)} group by params`.execute(context.database.kysely)
    const all = rows.reduce((sum, { records }) => sum + Number(records), 0)
    for (const { params, records } of rows) {
      const scope = find(plugin, params)
      if (!scope) continue
      const known = found.get(scope) ?? { records: 0, bytes: 0 }
      known.records += Number(records)
      known.bytes += Math.round((bytes * Number(records)) / all)
      found.set(scope, known)
    }
  }
  const scopes = [...found]
    .map(([scope, amounts]) => ({ ...scope, ...amounts }))
    .sort((one, other) => other.bytes - one.bytes || (one.scopeName < other.scopeName ? -1 : 1))
  return { scopes: scopes.slice(0, MOST_SCOPES), uncounted }
}
