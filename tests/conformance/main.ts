/** Runs DevLake's cases through Weir's subtasks and writes the tables that the judge compares. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { messageOf } from '../../src/errors.ts'
import { allTables } from '../../src/tables.ts'

import { startTestPostgres } from '../support/servers.ts'
import { emptyDatabase, type Step, stepRunner } from './steps.ts'

interface Case {
  readonly id: string
  readonly plugin: string
  readonly steps: readonly Step[]
}

const HELP = `npm run conformance -- --out FOLDER [option …]

Runs DevLake's cases and writes the resulting tables into a folder. Then compare them:
node FOLDER_OF_THE_CASES/judge.mjs --actual FOLDER

  --out FOLDER        where the tables are written (required)
  --only NAME         only this plugin or case; can be repeated
  --manifest FILE     the list of cases (default: ../shared/conformance/manifest.json)
  --data FOLDER       their records (default: ../shared/conformance/data)
  --database URL      postgres://… or mysql://…; its tables are emptied (default: a PostgreSQL of its own)
  --help              this text`

function stop(problem: string): never {
  console.error(`conformance: ${problem}\n\n${HELP}`)
  process.exit(2)
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        manifest: { type: 'string' },
        data: { type: 'string' },
        out: { type: 'string' },
        database: { type: 'string' },
        only: { type: 'string', multiple: true, default: [] },
        help: { type: 'boolean' },
      },
    }).values
  } catch (error) {
    return stop(messageOf(error))
  }
}

const values = readArguments()
if (values.help) {
  console.log(HELP)
  process.exit()
}
if (!values.out) stop('--out is missing: name the folder for the tables')
const home = join(import.meta.dirname, '../../../shared/conformance')
const manifest = values.manifest ?? join(home, 'manifest.json')
const data = values.data ?? join(home, 'data')
for (const path of [manifest, data]) {
  if (!existsSync(path)) stop(`${path} does not exist: name it with --manifest or --data`)
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
    await emptyDatabase(database)
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
console.log(`Cases run: ${cases.length}. Stopped by an error: ${failed}. The tables are in ${out}.`)
