import { sql } from 'kysely'
import { bytes, count, text } from '../columns.ts'
import type { Dashboard, Panel, PanelQuery } from '../dashboard.ts'
import { named } from '../expressions.ts'

const remedy = 'The reader may see no table: grant it SELECT on them.'
const number = { look: 'number', width: 8, height: 5 } as const

/** `name`, `bytes`, `records` and `layer` of every table. */
const tablesOf = ({ dialect }: PanelQuery) => sql`select name, bytes, records, case
    when substr(name, 1, 5) = '_raw_' then 'Raw: as the sources sent it'
    when substr(name, 1, 6) = '_tool_' then 'Tool: typed, per source'
    when substr(name, 1, 1) = '_' then 'Control: settings, runs and their state'
    else 'Domain: one vocabulary' end as layer
  from (${sql.raw(dialect.tableSizes)}) sizes`

const total: Panel = {
  ...number,
  name: 'bytes',
  title: 'Storage',
  definition:
    'Bytes of all tables with their indexes. What the server keeps beside tables, such as its log, is not in it.',
  better: 'lower',
  columns: { value: bytes('Bytes') },
  statement: (query) => sql`select coalesce(sum(bytes), 0) as value from (${tablesOf(query)}) every_table`,
  remedy,
}
const rows: Panel = {
  ...number,
  name: 'rows',
  title: 'Rows',
  definition: 'Rows of all tables, as the database server estimates them without counting.',
  columns: { value: count('Rows') },
  statement: (query) => sql`select coalesce(sum(records), 0) as value from (${tablesOf(query)}) every_table`,
  remedy,
}
const tables: Panel = {
  ...number,
  name: 'tables',
  title: 'Tables',
  definition: 'Tables of the database, also empty ones.',
  columns: { value: count('Tables') },
  statement: (query) => sql`select count(*) as value from (${tablesOf(query)}) every_table`,
  remedy,
}

const layers: Panel = {
  name: 'layers',
  title: 'By layer',
  definition:
    'Bytes of tables with their indexes by layer. All but the raw layer and the control tables can be made again from the raw layer.',
  look: 'ranking',
  columns: { layer: text('Layer'), value: bytes('Bytes'), rows: count('Rows'), tables: count('Tables') },
  statement: (query) => sql`select layer, sum(bytes) as value, sum(records) as ${sql.id('rows')}, count(*) as tables
    from (${tablesOf(query)}) every_table group by layer order by value desc, layer`,
  remedy,
}

const largest: Panel = {
  name: 'largest-tables',
  title: 'Largest tables',
  definition: 'The 20 largest tables with their indexes.',
  look: 'ranking',
  columns: { table_name: text('Table'), value: bytes('Bytes') },
  statement: (query) => sql`select name as table_name, bytes as value from (${tablesOf(query)}) every_table
    order by bytes desc, name limit 20`,
  remedy,
}

const sources: Panel = {
  name: 'raw-records',
  title: 'Records by source and scope',
  definition:
    'Records stored of each scope, as the last collections of its lists noted it. Nothing is counted for it, so it is quick at any size.',
  look: 'table',
  width: 24,
  columns: { plugin: text('Plugin'), scope: text('Scope'), lists: count('Lists'), stored: count('Records') },
  statement: () => sql`select plugin, ${named('', sql`params`)} as scope, count(*) as lists, sum(stored) as stored
    from _weir_receipts group by plugin, params order by stored desc, plugin, scope limit 500`,
  remedy: 'Nothing was collected yet: run a blueprint.',
}

const every: Panel = {
  name: 'every-table',
  title: 'All tables',
  definition: 'Every table with its bytes, indexes included, and an estimate of its rows; the largest first.',
  look: 'table',
  width: 24,
  height: 12,
  columns: { table_name: text('Table'), layer: text('Layer'), bytes: bytes('Bytes'), records: count('Rows') },
  statement: (query) => sql`select name as table_name, layer, bytes, records from (${tablesOf(query)}) every_table
    order by bytes desc, name limit 500`,
  remedy,
}

export const storage: Dashboard = {
  name: 'storage',
  title: 'Storage',
  question: 'How much does the database hold, and where does it grow?',
  group: 'Operation',
  variables: [],
  sections: [{ panels: [total, rows, tables] }, { panels: [layers, largest, sources, every] }],
}
