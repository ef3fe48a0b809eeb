import { type Engine, runStatement } from './servers.ts'

const ON_MARIADB = 'select id as id from information_schema.processlist where db = database() and id <> connection_id()'
/** Its other list stops at a statement of anybody that has an emoji. MariaDB keeps this one only where it is asked to. */
const ON_MYSQL = `select processlist_id as id from performance_schema.threads
  where processlist_db = database() and processlist_id <> connection_id()`

/** Has the server end all connections to a database, as an administrator would. One that is just being ended may live a moment. */
export async function cutConnections({ engine, url }: { engine: Engine; url: string }): Promise<void> {
  const run = runStatement[engine]
  if (engine === 'postgres') {
    const others = 'datname = current_database() and pid <> pg_backend_pid()'
    await run(url, `select pg_terminate_backend(pid) from pg_stat_activity where ${others}`)
    return
  }
  const [rows] = (await run(url, process.env.MYSQL_SERVER ? ON_MYSQL : ON_MARIADB)) as [{ id: number }[]]
  // One that is gone by now cannot be ended.
  for (const { id } of rows) await run(url, `kill ${id}`).catch(() => {})
}
