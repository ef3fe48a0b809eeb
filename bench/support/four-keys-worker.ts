/** One measured part of the four-keys benchmark, in a separate process: node four-keys-worker.ts PART PROJECTS URL… */

import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { createIndex, indexesOf } from '../../src/database/dialect.ts'
import type { Cell } from '../../src/database/fit.ts'
import { knowing } from '../../src/database/kysely.ts'
import { openDatabase } from '../../src/database/open.ts'
import { wholeRows } from '../../src/database/rows.ts'
import type { Table } from '../../src/database/table.ts'
import { fourKeys } from '../../src/metrics/index.ts'
import { REFERENCE } from '../../src/metrics/policy/policy.ts'
import { readMetric } from '../../src/metrics/read/read.ts'
import { dora } from '../../src/plugins/dora/plugin.ts'
import { refdiff } from '../../src/plugins/refdiff/plugin.ts'
import { allTables } from '../../src/tables.ts'
import { peakMegabytes } from '../../tests/support/peak-memory.ts'
import { generate, projectName } from './four-keys-organisation.ts'

const SUBTASKS = [
  'generateDeployments',
  'generateDeploymentCommits',
  'enrichPrevSuccessDeploymentCommits',
  'calculateDeploymentCommitsDiff',
  'calculateChangeLeadTime',
  'ConvertIssuesToIncidents',
  'ConnectIncidentToDeployment',
]
const all = [...dora.subtasks, ...refdiff.subtasks]
const subtasks = SUBTASKS.map((name) => all.find((each) => each.name === name)!)
const tableOf = (name: string) => allTables.find((table) => table.name === name) as Table<any>
const outputs = [...new Set(subtasks.flatMap(({ writes }) => writes))]
const inputs = [...new Set(subtasks.flatMap(({ reads }) => reads))].filter((name) => !outputs.includes(name))

async function calculate(database: Database, projects: number): Promise<void> {
  for (const subtask of subtasks) {
    const started = performance.now()
    for (let project = 0; project < projects; project++) {
      await subtask.run({
        database,
        options: { projectName: projectName(project) },
        fullSync: true,
        signal: new AbortController().signal,
        progress: () => {},
      })
    }
    console.error(`  ${subtask.name}: ${((performance.now() - started) / 1000).toFixed(1)} s`)
  }
}

/** Reads every row of the inputs. */
async function scan(database: Database): Promise<void> {
  for (const name of inputs) {
    let rows = 0
    const from = tableOf(name)
    for await (const _row of knowing(database.kysely, from).selectFrom(from.name).selectAll().stream(5000)) rows++
    console.error(`  scan ${name}: ${rows} rows`)
  }
}

/** Seconds that it takes to load every row of the outputs into an empty table of the same shape. */
async function load(database: Database): Promise<number> {
  let seconds = 0
  for (const name of outputs) {
    const table = tableOf(name)
    const copy = { ...table, name: `floor_${name}` } as Table<any>
    await sql.raw(`drop table if exists ${database.dialect.quote(copy.name)}`).execute(database.kysely)
    await sql.raw(database.dialect.createTable(copy)).execute(database.kysely)
    for (const index of indexesOf(copy))
      await sql.raw(createIndex(database.dialect, copy, index)).execute(database.kysely)
    let batch: Cell[][] = []
    const send = async () => {
      const started = performance.now()
      if (batch.length > 0) await database.sendRows(wholeRows(copy, batch), 'insert')
      seconds += (performance.now() - started) / 1000
      batch = []
    }
    for await (const row of knowing(database.kysely, table).selectFrom(table.name).selectAll().stream(5000)) {
      batch.push(table.names.map((each) => (row as Record<string, Cell>)[each] ?? null))
      if (batch.length === 5000) await send()
    }
    await send()
  }
  return seconds
}

const READS = 41

/**
 * The median time of reading the four keys of one project for a year, for each database, in turns. All databases have the first
 * half of the projects.
 */
async function read(databases: readonly Database[], projects: number): Promise<number[]> {
  const everywhere = Math.min(10, projects / 2)
  const times = databases.map((): number[] => [])
  for (let turn = 0; turn < READS; turn++) {
    const filter = {
      project: projectName(turn % everywhere),
      environment: 'PRODUCTION',
      policy: REFERENCE,
      from: new Date('2025-01-01T00:00:00Z'),
      to: new Date('2025-12-31T23:59:59Z'),
    }
    for (const [index, database] of databases.entries()) {
      const started = performance.now()
      for (const metric of fourKeys) await readMetric(database, metric, filter)
      times[index]?.push((performance.now() - started) / 1000)
    }
  }
  return times.map((each) => each.sort((one, other) => one - other)[READS >> 1] as number)
}

/** Does what a server does by itself soon after a load: it counts what its tables hold. */
async function analyze({ kysely, dialect }: Database): Promise<void> {
  const tables = [...inputs, ...outputs]
  for (const name of tables) {
    await sql.raw(`analyze ${dialect.name === 'mysql' ? 'table ' : ''}${dialect.quote(name)}`).execute(kysely)
  }
}

async function timed(body: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await body()
  return (performance.now() - started) / 1000
}

async function run(part: string, projects: number, databases: readonly Database[]): Promise<number[]> {
  const [database] = databases as [Database]
  if (part === 'read') {
    for (const each of databases) await analyze(each)
    return read(databases, projects)
  }
  if (part === 'calculate') return [await timed(() => calculate(database, projects))]
  if (part === 'floor') return [(await timed(() => scan(database))) + (await load(database))]
  return [await timed(() => generate(database, projects).then(() => analyze(database)))]
}

const [part = '', projects = '1', ...urls] = process.argv.slice(2)
const databases = await Promise.all(urls.map(openDatabase))
try {
  const measured = await run(part, Number(projects), databases)
  const megabytes = peakMegabytes()
  console.log(JSON.stringify(measured.map((seconds) => ({ seconds, megabytes }))))
} finally {
  await Promise.all(databases.map((each) => each.close()))
}
