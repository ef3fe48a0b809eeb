import type { SchemaOf } from '../../database/table.ts'
import { collectTables } from '../raw/collect-tables.ts'
import { gaps } from '../raw/gaps.ts'
import { quarantine } from '../raw/quarantine.ts'
import { receipts } from '../raw/receipts.ts'

/** The kit's own tables. */
export const kitTables = [quarantine, receipts, gaps, ...collectTables]

declare module '../../database/kysely.ts' {
  interface Schema extends SchemaOf<(typeof kitTables)[number]> {}
}
