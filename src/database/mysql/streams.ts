import type { DatabaseConnection, MysqlDialect } from 'kysely'
import type { PoolConnection } from 'mysql2'
import type { AnyValue } from '../column.ts'

/** Kysely hands on each row of a stream by itself, through many hands. */
export function streamingInChunks(dialect: MysqlDialect): MysqlDialect {
  const known = new WeakSet<DatabaseConnection>()
  const createDriver = dialect.createDriver.bind(dialect)
  dialect.createDriver = () => {
    const driver = createDriver()
    const acquire = driver.acquireConnection.bind(driver)
    driver.acquireConnection = async () => {
      const connection = await acquire()
      if (known.has(connection)) return connection
      known.add(connection)
      const stream = connection.streamQuery.bind(connection)
      connection.streamQuery = async function* (query, size = 1) {
        let rows: never[] = []
        for await (const result of stream(query, size)) {
          if (rows.push(...(result.rows as never[])) < size) continue
          yield { rows }
          rows = []
        }
        if (rows.length > 0) yield { rows }
      }
      return connection
    }
    return driver
  }
  return dialect
}

/** The driver tells a stream nothing when its connection is lost: whoever reads it would wait for ever. */
export function tellStreams(connection: PoolConnection): void {
  const query = connection.query.bind(connection) as (...parameters: unknown[]) => AnyValue
  connection.query = (...parameters: unknown[]) => {
    // Also what is asked of a connection that is closed already; the stream is made after this.
    const fail = (error: Error) =>
      process.nextTick(() => command.listenerCount('error') > 0 && command.emit('error', error))
    connection.once('error', fail)
    const command = query(...parameters)
    command.once('end', () => connection.off('error', fail))
    return command
  }
}
