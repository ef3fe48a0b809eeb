/**
 * Empties the payloads of raw records that were extracted long ago. The record itself stays, so that runs know that it was
 * collected and extraction keeps the rows made from it (`letGo`). This is done only for lists whose old records are never read
 * again: lists without inputs, whose rows no other list writes, and whose records no other scope has.
 */
import { type RawBuilder, sql } from 'kysely'
import type { ServiceContext } from '../../control-plane/services.ts'
import { among, inPieces } from '../../database/pieces.ts'
import { earlyRecords } from '../../plugin-kit/raw/collect-tables.ts'
import { extractedTables } from '../../plugin-kit/raw/descendants.ts'
import { quarantine } from '../../plugin-kit/raw/quarantine.ts'
import { rawTable } from '../../plugin-kit/raw/raw-table.ts'
import { type Entity, subtaskName } from '../../plugin-kit/spec/entity.ts'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { rawMarks } from '../../system/state.ts'

export interface RemovedRows {
  readonly table: string
  readonly rows: number
  readonly bytes: number
}

interface Extractor {
  readonly plugin: string
  readonly subtask: string
}
interface ThinnedTable {
  readonly table: string
  readonly extractors: readonly Extractor[]
}

/** Returns the emptied records by table. */
export async function emptyOldPayloads(
  { database, plugins }: Pick<ServiceContext, 'database' | 'plugins'>,
  before: Date,
): Promise<RemovedRows[]> {
  const { kysely } = database
  const removed: RemovedRows[] = []
  for (const { table, extractors } of thinnedTables(plugins.flatMap(({ source }) => source ?? []))) {
    let rows = 0
    let bytes = 0
    for (const { params, mark } of await extractedUpTo({ database }, extractors)) {
      const found = await sql<{ id: number; bytes: number }>`select id, octet_length(data) as bytes
        from ${sql.table(table)} as record where params = ${params} and id <= ${mark} and created_at < ${before}
          and input_key = '' and record_key <> '' and octet_length(data) > 0 and ${isAlone(table)}`.execute(kysely)
      for (const ids of inPieces(found.rows.map(({ id }) => id))) {
        await sql`update ${sql.table(table)} set data = '' where ${among(sql.ref('id'), ids)}`.execute(kysely)
      }
      rows += found.rows.length
      bytes += found.rows.reduce((sum, each) => sum + Number(each.bytes), 0)
    }
    if (rows > 0) removed.push({ table, rows, bytes })
  }
  return removed
}

/**
 * True when nothing needs the payload any more: the record is in no other scope, is not quarantined, and no list has yet to
 * confirm it.
 */
const isAlone = (table: string): RawBuilder<unknown> => sql`not exists (select 1 from ${sql.table(table)} as counterpart
    where counterpart.input_key = record.input_key and counterpart.record_key = record.record_key and counterpart.params <> record.params)
  and not exists (select 1 from ${sql.table(quarantine.name)} as rejected
    where rejected.raw_table = ${table} and rejected.raw_id = record.id)
  and not exists (select 1 from ${sql.table(earlyRecords.name)} as early
    where early.raw_table = ${table} and early.raw_id = record.id)`

function thinnedTables(sources: readonly PluginSpec[]): ThinnedTable[] {
  const entities = sources.flatMap((source) => source.entities.map((entity) => ({ source, entity })))
  const names = [...new Set(entities.flatMap(({ entity }) => entity.spec.raw ?? []))]
  return names.flatMap((name) => {
    const own = entities.filter(({ entity }) => entity.spec.raw === name)
    if (!own.every(({ source, entity }) => isThinned(source, entity))) return []
    const extractors = own.map(({ source, entity }) => ({
      plugin: source.name,
      subtask: subtaskName(source.spelling, 'extract', entity),
    }))
    return [{ table: rawTable(name).name, extractors }]
  })
}

function isThinned({ entities, referred = [] }: PluginSpec, entity: Entity): boolean {
  const { collect, raw } = entity.spec
  if (!collect || collect.forEach) return false
  const people = new Set(referred.map(({ table }) => table))
  const tables = extractedTables(entity).filter((table) => !people.has(table))
  const others = entities.filter(({ spec }) => spec.raw && spec.raw !== raw)
  return !others.some((other) => extractedTables(other).some((table) => tables.includes(table)))
}

/** For each scope, returns the id of the last record that every extraction of a plugin that works on the scope has read. */
async function extractedUpTo(
  { database: { kysely } }: Pick<ServiceContext, 'database'>,
  extractors: readonly Extractor[],
): Promise<{ params: string; mark: number }[]> {
  const subtasks = [...new Set(extractors.map(({ subtask }) => subtask))]
  const marks = await kysely
    .selectFrom(rawMarks.name)
    .select(['plugin', 'subtask', 'params', 'raw_mark'])
    .where('subtask', 'in', subtasks)
    .execute()
  const known = marks.filter((mark) =>
    extractors.some(({ plugin, subtask }) => plugin === mark.plugin && subtask === mark.subtask),
  )
  return [...Map.groupBy(known, ({ params }) => String(params))].flatMap(([params, own]) => {
    const active = new Set(own.map(({ plugin }) => plugin))
    const needed = extractors.filter(({ plugin }) => active.has(plugin)).length
    return own.length < needed ? [] : [{ params, mark: Math.min(...own.map(({ raw_mark }) => Number(raw_mark))) }]
  })
}
