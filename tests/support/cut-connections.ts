import { type Engine, runStatement } from './servers.ts'

/** MySQL's table of the same cannot be read while anybody's statement has an emoji. */
const LIST = 'show processlist'

/** Has the server end all connections to a database, as an administrator would. One that is just being ended may live a moment. */
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
  // One that is gone by now cannot be ended.
  for (const { Id } of others) await run(url, `kill ${Id}`).catch(() => {})
}
