/**
 * npm run conformance -- --manifest F --data D --out O [--database URL] [--only PLUGIN_OR_CASE]…
 * Runs reference cases through the product's own subtasks and dumps the tables that the judge compares.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { messageOf } from '../../src/errors.ts'
import { allTables } from '../../src/tables.ts'

import { startTestPostgres } from '../support/servers.ts'
import { emptyTables, type Step, stepRunner } from './steps.ts'

interface Case {
  readonly id: string
  readonly plugin: string
  readonly steps: readonly Step[]
}

const { values } = parseArgs({
  options: {
    manifest: { type: 'string' },
    data: { type: 'string' },
    out: { type: 'string' },
    database: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
  },
})
if (!values.out) {
  console.error('conformance: --out DIR is required: the folder for the table dumps')
  process.exit(2)
}
const home = join(import.meta.dirname, '../../../shared/conformance')
const manifest = values.manifest ?? join(home, 'manifest.json')
const data = values.data ?? join(home, 'data')
for (const path of [manifest, data]) {
  if (existsSync(path)) continue
  console.error(`conformance: ${path} does not exist; name it with --manifest and --data`)
  process.exit(2)
}
const out = values.out
mkdirSync(out, { recursive: true })

const isAsked = ({ id, plugin }: Case) =>
  values.only.length === 0 || values.only.some((each) => each === id || each === plugin || id.startsWith(`${each}/`))
const cases = (JSON.parse(readFileSync(manifest, 'utf8')) as Case[]).filter(isAsked)

const server = values.database ? undefined : await startTestPostgres()
const database = await openDatabase(values.database ?? (await (server as NonNullable<typeof server>).createDatabase()))
let failed = 0
try {
  await migrate(database, allTables)
  for (const { id, plugin, steps } of cases) {
    await emptyTables(database)
    const environment = { ...process.env }
    const run = stepRunner(database, data)
    for (const [index, step] of steps.entries()) {
      const dump = join(out, `${id.replaceAll('/', '__')}.${index}`)
      try {
        const rows = await run({ ...step, plugin })
        if (rows) writeFileSync(`${dump}.jsonl`, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      } catch (error) {
        writeFileSync(`${dump}.error`, messageOf(error))
        console.log(`${id} step ${index} (${step.op}): ${messageOf(error)}`)
        failed++
        break
      }
    }
    process.env = environment
  }
} finally {
  await database.close()
  await server?.stop()
}
console.log(`${cases.length} cases run, ${failed} stopped by an error; dumps are in ${out}`)
