import { collectTables } from '../raw/collect-tables.ts'
import { gaps } from '../raw/gaps.ts'
import { quarantine } from '../raw/quarantine.ts'
import { receipts } from '../raw/receipts.ts'

/** What the kit itself remembers. */
export const kitTables = [quarantine, receipts, gaps, ...collectTables]
