import { collectTables } from './collect-state.ts'
import { gaps } from './gaps.ts'
import { quarantine } from './quarantine.ts'
import { receipts } from './receipts.ts'

/** What the kit itself remembers. */
export const kitTables = [quarantine, receipts, gaps, ...collectTables]
