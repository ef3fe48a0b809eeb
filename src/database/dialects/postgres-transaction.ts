import type pg from 'pg'

/** Commits what `body` does, or nothing of it; a connection that cannot even roll back is closed. */
export async function inTransaction<Result>(
  pool: pg.Pool,
  body: (client: pg.PoolClient) => Promise<Result>,
  begin = 'begin',
): Promise<Result> {
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    await client.query(begin)
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

/** What would begin or end a transaction of its own marks a part of the one under way. */
const SAVEPOINTS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/^begin\b/, 'savepoint part'],
  [/^commit$/, 'release savepoint part'],
  [/^rollback$/, 'rollback to savepoint part; release savepoint part'],
]

function asPart(statement: unknown): unknown {
  if (typeof statement !== 'string') return statement
  const savepoint = SAVEPOINTS.find(([pattern]) => pattern.test(statement))
  return savepoint ? statement.replace(...savepoint) : statement
}

/** A pool of the one connection that a transaction runs on, as far as this folder uses one. */
export function poolOf(client: pg.PoolClient): pg.Pool {
  const query = client.query.bind(client) as (...rest: unknown[]) => unknown
  const borrowed = {
    query: (statement: unknown, ...rest: unknown[]) => query(asPart(statement), ...rest),
    release() {},
  }
  const pool = {
    connect: async () => borrowed,
    // A statement that fails ends a transaction, unless it is a part of its own.
    query: (text: string, values: unknown[]) => inTransaction(pool, (part) => part.query(text, values)),
    end: async () => {},
  } as unknown as pg.Pool
  return pool
}
