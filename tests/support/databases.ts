import { afterAll, beforeAll, describe, inject } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { databasesOf, type Engine } from './servers.ts'

export interface TestDatabase {
  readonly engine: Engine
  /** The address of a database of this describe block's own, empty at first. */
  readonly url: string
  /** The same, opened. */
  readonly database: Database
  /** Another empty database on the same server; dropped with the rest. */
  createDatabase(name?: string): Promise<string>
}

/**
 * Declares the tests of `body` once per engine, each time with a fresh database that is dropped afterwards. The fields
 * of its argument can be read inside hooks and tests, not while the tests are being declared (but for `engine`).
 */
export function describeEachDatabase(
  name: string,
  body: (test: TestDatabase) => void,
  engines: readonly Engine[] = ['postgres', 'mysql'],
): void {
  const servers = inject('databaseServers')
  for (const engine of engines) {
    const server = servers[engine]
    describe.skipIf(!server)(`${name} (${engine})`, () => {
      const { createDatabase, dropDatabase } = databasesOf(engine, server ?? '')
      const created: string[] = []
      let url: string
      let database: Database
      const create = async (databaseName?: string) => {
        const made = await createDatabase(databaseName)
        created.push(made)
        return made
      }
      beforeAll(async () => {
        url = await create()
        database = await openDatabase(url)
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
        createDatabase: create,
      })
    })
  }
}
