import { Command } from 'commander'
import { readStorage } from '../control-plane/storage/storage.ts'
import { bytesInWords } from './bytes-in-words.ts'
import { openControl } from './control.ts'
import { createRuntime, withDatabase } from './runtime.ts'

const MOST_LINES = 20

export const storage = new Command('storage')
  .description('print what fills the database: by layer, table and scope')
  .option('--json', 'print JSON, with all tables')
  .action(async ({ json }: { json?: boolean }) => {
    const runtime = createRuntime()
    const stored = await withDatabase(
      runtime,
      async (database) => readStorage((await openControl(runtime, database)).context),
      () => {},
    )
    if (json) return console.log(JSON.stringify(stored))
    const { bytes, layers, tables, scopes } = stored
    console.log(`The database holds ${bytesInWords(bytes)}.`)
    const print = (title: string, rows: readonly (readonly [string, number, string])[]) => {
      if (rows.length === 0) return
      console.log(`\n${title}`)
      for (const [name, size, rest] of rows.slice(0, MOST_LINES)) {
        console.log(`${bytesInWords(size).padStart(12)}  ${name}${rest}`)
      }
      if (rows.length > MOST_LINES) console.log(`${' '.repeat(12)}  and ${rows.length - MOST_LINES} more`)
    }
    print(
      'By layer',
      layers.map((each) => [each.layer, each.bytes, `, ${each.tables} tables`]),
    )
    print(
      'By table',
      tables.map((each) => [each.name, each.bytes, `, about ${each.records} rows`]),
    )
    print(
      'By scope (raw records)',
      scopes.map((each) => [`${each.plugin} ${each.scopeName}`, each.bytes, `, ${each.records} records`]),
    )
  })
