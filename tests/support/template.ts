/** Databases with all tables of Weir. On PostgreSQL they are copies of one that is made once per run. */
import pg from 'pg'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { allTables } from '../../src/tables.ts'
import { databasesOf, type Engine } from './servers.ts'

const TEMPLATE = 'all_tables'
const DRAFT = 'all_tables_draft'
const LOCK = 20261119

let template: Promise<void> | undefined

/** Creates a database with all tables on the server at this administrator's address. */
export async function createWithTables(engine: Engine, server: string): Promise<string> {
  const { createDatabase } = databasesOf(engine, server)
  if (engine === 'mysql') {
    // MariaDB has no templates, and makes all tables as quickly as PostgreSQL copies them.
    const url = await createDatabase()
    await makeTables(url)
    return url
  }
  template ??= ensureTemplate(server)
  await template
  return createDatabase(undefined, TEMPLATE)
}

async function makeTables(url: string): Promise<void> {
  const database = await openDatabase(url)
  await migrate(database, allTables).finally(() => database.close())
}

/**
 * The first test process that needs the template makes it, and the others wait. Afterwards nobody can connect to it, because a
 * database that somebody uses cannot be copied.
 */
async function ensureTemplate(server: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    const { rows } = await client.query('select 1 from pg_database where datname = $1', [TEMPLATE])
    if (rows.length > 0) return
    const { createDatabase, dropDatabase } = databasesOf('postgres', server)
    // A process that was killed may have left an unfinished one.
    const draft = new URL(server)
    draft.pathname = `/${DRAFT}`
    await dropDatabase(draft.href)
    await makeTables(await createDatabase(DRAFT))
    await client.query(`alter database ${DRAFT} allow_connections false`)
    await client.query(`alter database ${DRAFT} rename to ${TEMPLATE}`)
  } finally {
    await client.end()
  }
}
