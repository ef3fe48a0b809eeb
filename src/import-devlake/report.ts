/** The report about what was imported and what was not. */
import type { Database } from '../database/database.ts'
import { domainTables } from '../domain/index.ts'
import { systemTables } from '../system/index.ts'
import { readProgress } from './journal.ts'
import type { Findings, LeftColumn, LeftTable } from './layout.ts'
import type { ImportRow } from './recognise.ts'
import type { MissingSecret } from './rules.ts'

type Layer = 'configuration' | 'raw' | 'tool' | 'domain'

interface TableReport {
  readonly table: string
  readonly layer: Layer
  readonly rows: number
}
interface LeftRows {
  readonly table: string
  readonly rows: number
  readonly reason: string
}

export interface ImportReport {
  readonly origin: string
  readonly inPlace: boolean
  readonly finishedAt: Date
  /** Tables with rows, in the order of their layers. */
  readonly tables: readonly TableReport[]
  readonly leftOut: {
    readonly tables: readonly LeftTable[]
    readonly columns: readonly LeftColumn[]
    readonly rows: readonly LeftRows[]
  }
  readonly enterAgain: readonly MissingSecret[]
}

const LAYERS: readonly Layer[] = ['configuration', 'raw', 'tool', 'domain']
const systemNames = new Set(systemTables.map(({ name }) => name))
const domainNames = new Set(domainTables.map(({ name }) => name))

function layerOf(table: string): Layer {
  if (systemNames.has(table) || /^_tool_\w+_(connections|scope_configs)$/.test(table)) return 'configuration'
  if (domainNames.has(table)) return 'domain'
  return table.startsWith('_raw_') ? 'raw' : 'tool'
}

export async function reportOf(database: Database, row: ImportRow): Promise<ImportReport> {
  const progress = await readProgress(database)
  const tables = progress
    .filter(({ records }) => records > 0)
    .map(({ table, records }) => ({ table, layer: layerOf(table), rows: records }))
    .sort((one, other) => LAYERS.indexOf(one.layer) - LAYERS.indexOf(other.layer))
  const findings = row.findings as Findings
  return {
    origin: row.origin,
    inPlace: Boolean(row.is_in_place),
    finishedAt: row.finished_at as Date,
    tables,
    leftOut: {
      ...findings,
      rows: progress.flatMap(({ table, reasons }) => reasons.map((each) => ({ table, ...each }))),
    },
    enterAgain: progress.flatMap(({ missing }) => missing),
  }
}
