import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, inject } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import type { AnyTables } from './any-table.ts'
import { databasesOf, type Engine } from './servers.ts'

/** Tests name tables of plugins and of their own, whose columns nobody declares. */
export interface TestedDatabase extends Omit<Database, 'kysely'> {
  readonly kysely: AnyTables
}

export interface TestDatabase {
  readonly engine: Engine
  /** The address of a database that belongs to this describe block alone. */
  readonly url: string
  /** That database, opened. */
  readonly database: TestedDatabase
  /** Creates another empty database on the same server. It is dropped with the others. */
  createDatabase(name?: string): Promise<string>
  createWithTables(): Promise<string>
}

type Body = (test: TestDatabase) => void

/**
 * Declares the tests of `body` once per engine, for behaviour that may differ by database. Each time there is a fresh, empty
 * database, which is dropped afterwards. Hooks and tests can read the fields of the argument of `body`. While the tests are
 * being declared, only `engine` can be read.
 */
export function describeEachDatabase(name: string, body: Body): void {
  for (const engine of inject('engines')) describeOn(engine, name, body, databaseMakers.empty)
}

/** Like `describeEachDatabase`, but the database begins with all tables, which is quicker than making them. */
export function describeEachWithTables(name: string, body: Body): void {
  for (const engine of inject('engines')) describeOn(engine, name, body, databaseMakers.withTables)
}

/**
 * Declares the tests on one engine: for behaviour that cannot differ by database, because its statements are tested on both
 * elsewhere. The name of the block chooses the engine, so that neither is forgotten. FULL_SIZE=true takes both.
 */
export function describeOneDatabase(name: string, body: Body): void {
  for (const engine of enginesFor(name)) describeOn(engine, name, body, databaseMakers.empty)
}

/** Like `describeOneDatabase`, but the database begins with all tables. */
export function describeOneWithTables(name: string, body: Body): void {
  for (const engine of enginesFor(name)) describeOn(engine, name, body, databaseMakers.withTables)
}

function enginesFor(name: string): readonly Engine[] {
  const engines = inject('engines')
  const number = createHash('sha256').update(name).digest().readUInt8()
  return process.env.FULL_SIZE === 'true' ? engines : [engines[number % engines.length] as Engine]
}

type Make = (engine: Engine, server: string) => Promise<string>
const databaseMakers = {
  empty: (engine, server) => databasesOf(engine, server).createDatabase(),
  // Loaded only here, because it loads every plugin.
  withTables: async (engine, server) => (await import('./template.ts')).createWithTables(engine, server),
} satisfies Record<string, Make>

function describeOn(engine: Engine, name: string, body: Body, make: Make): void {
  const server = inject('databaseServers')[engine]
  describe.skipIf(!server)(`${name} (${engine})`, () => {
    const { createDatabase, dropDatabase } = databasesOf(engine, server ?? '')
    const created: string[] = []
    let url: string
    let database: TestedDatabase
    const keep = async (making: Promise<string>) => {
      const made = await making
      created.push(made)
      return made
    }
    beforeAll(async () => {
      url = await keep(make(engine, server ?? ''))
      database = (await openDatabase(url)) as TestedDatabase
    })
    afterAll(async () => {
      await database?.close()
      await Promise.all(created.map(dropDatabase))
    })
    body({
      engine,
      get url() {
        return url
      },
      get database() {
        return database
      },
      createDatabase: (databaseName) => keep(createDatabase(databaseName)),
      createWithTables: () => keep(databaseMakers.withTables(engine, server ?? '')),
    })
  })
}
