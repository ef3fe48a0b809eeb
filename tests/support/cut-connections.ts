import { type Engine, runStatement } from './servers.ts'

/** Has the server end all connections to a database, as an administrator would. One that is just being ended may live a moment. */
export async function cutConnections({ engine, url }: { engine: Engine; url: string }): Promise<void> {
  const run = runStatement[engine]
  if (engine === 'postgres') {
    const others = 'datname = current_database() and pid <> pg_backend_pid()'
    await run(url, `select pg_terminate_backend(pid) from pg_stat_activity where ${others}`)
    return
  }
  const others = 'select id as id from information_schema.processlist where db = database() and id <> connection_id()'
  const [rows] = (await run(url, others)) as [{ id: number }[]]
  // One that is gone by now cannot be ended.
  for (const { id } of rows) await run(url, `kill ${id}`).catch(() => {})
}
