import { type Engine, runStatement } from './servers.ts'

/** MySQL also has a table with this list, but it cannot be read while anyone runs a statement that contains an emoji. */
const LIST = 'show processlist'

/** Makes the server end all connections to a database, as an administrator would. A connection may live on for a moment. */
export async function cutConnections({ engine, url }: { engine: Engine; url: string }): Promise<void> {
  const run = runStatement[engine]
  if (engine === 'postgres') {
    const others = 'datname = current_database() and pid <> pg_backend_pid()'
    await run(url, `select pg_terminate_backend(pid) from pg_stat_activity where ${others}`)
    return
  }
  const [rows] = (await run(url, LIST)) as [{ Id: number; db: string | null; Info: string | null }[]]
  const name = new URL(url).pathname.slice(1)
  const others = rows.filter(({ db, Info }) => db === name && Info !== LIST)
  // A connection that has ended in the meantime cannot be killed.
  for (const { Id } of others) await run(url, `kill ${Id}`).catch(() => {})
}
