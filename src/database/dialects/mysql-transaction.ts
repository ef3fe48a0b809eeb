import type { Pool, PoolConnection } from 'mysql2'

/** As much of a pool as this folder uses. */
export type Pooled = Pick<Pool, 'query' | 'getConnection' | 'end'>
/** Gives `body` a pool of the one connection that the transaction runs on. */
export async function inTransaction<Result>(pool: Pooled, body: (pool: Pooled) => Promise<Result>): Promise<Result> {
  const connection = await new Promise<PoolConnection>((resolve, reject) =>
    pool.getConnection((error, made) => (error ? reject(error) : resolve(made))),
  )
  const query = connection.query.bind(connection)
  const run = (statement: string) =>
    new Promise<void>((resolve, reject) => query(statement, (error) => (error ? reject(error) : resolve())))
  const borrowed = { query, release() {}, destroy() {} } as unknown as PoolConnection
  const nested = {
    query,
    getConnection: (callback: (error: null, connection: PoolConnection) => void) => callback(null, borrowed),
    end: (callback?: () => void) => callback?.(),
  } as unknown as Pooled
  try {
    await run('start transaction')
    const result = await body(nested)
    await run('commit')
    connection.release()
    return result
  } catch (error) {
    await run('rollback').then(
      () => connection.release(),
      () => connection.destroy(),
    )
    throw error
  }
}
