import type pg from 'pg'
import { begun } from '../again.ts'
import { isLost } from './troubles.ts'

/** Commits everything that `body` does, or nothing. A connection that cannot even roll back is closed. */
export async function inTransaction<Result>(
  pool: pg.Pool,
  body: (client: pg.PoolClient) => Promise<Result>,
  begin = 'begin',
): Promise<Result> {
  const client = await begun(
    () => pool.connect(),
    (connected) => connected.query(begin),
    (connected, error) => connected.release(error),
    isLost,
  )
  let failure: Error | undefined
  try {
    const result = await body(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((rollbackError) => {
      failure = rollbackError
    })
    throw error
  } finally {
    client.release(failure)
  }
}

/** Replaces statements that would begin or end a nested transaction by savepoints. */
const SAVEPOINTS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/^begin\b/, 'savepoint part'],
  [/^commit$/, 'release savepoint part'],
  [/^rollback$/, 'rollback to savepoint part; release savepoint part'],
]

function asPart(statement: string): string {
  const savepoint = SAVEPOINTS.find(([pattern]) => pattern.test(statement))
  return savepoint ? statement.replace(...savepoint) : statement
}

/**
 * A pool with the single connection of a transaction, as far as this folder uses a pool. Statements sent at the same time wait
 * for each other, because the driver will refuse parallel ones in future.
 */
export function poolOf(client: pg.PoolClient): pg.Pool {
  const send = client.query.bind(client) as (...rest: unknown[]) => unknown
  let last: Promise<unknown> = Promise.resolve()
  function query(statement: unknown, ...rest: unknown[]): unknown {
    // A cursor or a COPY must be returned before it has begun.
    if (typeof statement !== 'string') return send(statement, ...rest)
    const answer = last.then(() => send(asPart(statement), ...rest))
    last = answer.catch(() => {})
    return answer
  }
  const borrowed = { query, release() {} }
  return { connect: async () => borrowed, query, end: async () => {} } as unknown as pg.Pool
}
