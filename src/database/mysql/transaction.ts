import type { Pool, PoolConnection } from 'mysql2'
import { begun } from '../again.ts'
import type { AnyValue } from '../column.ts'
import { isLost } from './troubles.ts'

/** The part of a pool that this folder uses. */
export type Pooled = Pick<Pool, 'query' | 'getConnection' | 'end'>
type Query = (...query: AnyValue[]) => unknown

/** Gives `body` a pool with the single connection of the transaction, and a function to register statements to run after its end. */
export async function inTransaction<Result>(
  pool: Pooled,
  body: (pool: Pooled, atEnd: (statement: string) => void) => Promise<Result>,
  begin: readonly string[] = ['start transaction'],
): Promise<Result> {
  const connection = await begun(
    () =>
      new Promise<PoolConnection>((resolve, reject) =>
        pool.getConnection((error, made) => (error ? reject(error) : resolve(made))),
      ),
    async (connected) => {
      for (const statement of begin) await runOn(connected, statement)
    },
    (connected) => connected.destroy(),
    isLost,
  )
  const send: Query = connection.query.bind(connection)
  const run = (statement: string) => runOn(connection, statement)
  const query = inParts(send)
  const borrowed = { query, release() {}, destroy() {} } as unknown as PoolConnection
  const nested = {
    query,
    getConnection: (callback: (error: null, connection: PoolConnection) => void) => callback(null, borrowed),
    end: (callback?: () => void) => callback?.(),
  } as unknown as Pooled
  const last = new Set<string>()
  const giveBack = async () => {
    for (const statement of last) await run(statement)
    connection.release()
  }
  try {
    const result = await body(nested, (statement) => last.add(statement))
    await run('commit')
    await giveBack().catch(() => connection.destroy())
    return result
  } catch (error) {
    await run('rollback')
      .then(giveBack)
      .catch(() => connection.destroy())
    throw error
  }
}

const runOn = (connection: Pick<PoolConnection, 'query'>, statement: string) =>
  new Promise<void>((resolve, reject) => connection.query(statement, (error) => (error ? reject(error) : resolve())))

/** Numbers the savepoints: with one name for all, an inner part could end an outer one. */
let parts = 0

/** Replaces statements that would begin or end a nested transaction, and so end the current one, by savepoints. */
function inParts(send: Query): Query {
  const open: string[] = []
  return (statement, ...rest) => {
    if (statement === 'begin' || statement === 'start transaction') {
      const part = `part${++parts}`
      open.push(part)
      return send(`savepoint ${part}`, ...rest)
    }
    if (statement === 'commit') return send(`release savepoint ${open.pop()}`, ...rest)
    if (statement !== 'rollback') return send(statement, ...rest)
    const callback = rest.pop()
    // A deadlock has rolled back everything, including savepoints. Its error must not be hidden by that of the missing savepoint.
    return send(`rollback to savepoint ${open.pop()}`, ...rest, (error: AnyValue, ...answer: unknown[]) =>
      callback(error?.code === 'ER_SP_DOES_NOT_EXIST' ? null : error, ...answer),
    )
  }
}
