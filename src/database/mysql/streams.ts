import type { DatabaseConnection, MysqlDialect } from 'kysely'
import type { PoolConnection } from 'mysql2'
import type { AnyValue } from '../column.ts'
import type { StatementSize } from './send-rows.ts'

/**
 * Kysely hands on each row of a stream by itself, through many hands: here they come in chunks. And it sends a statement
 * however long it is, which breaks the connection where the server takes less at once.
 */
export function withinServer(dialect: MysqlDialect, { most, tooLarge }: StatementSize): MysqlDialect {
  const known = new WeakSet<DatabaseConnection>()
  const createDriver = dialect.createDriver.bind(dialect)
  dialect.createDriver = () => {
    const driver = createDriver()
    const acquire = driver.acquireConnection.bind(driver)
    driver.acquireConnection = async () => {
      const connection = await acquire()
      if (known.has(connection)) return connection
      known.add(connection)
      const execute = connection.executeQuery.bind(connection)
      connection.executeQuery = async (query) => {
        const bytes = sizeOf(query.parameters)
        if (bytes > most) throw tooLarge('', bytes)
        return execute(query)
      }
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

/** Of the long values, as the driver writes them into the statement: bytes as hexadecimal, a backslash before some characters. */
function sizeOf(values: readonly unknown[]): number {
  let bytes = 0
  for (const value of values) {
    if (Buffer.isBuffer(value)) bytes += value.length * 2
    else if (typeof value === 'string' && value.length > LONG_TEXT) {
      bytes += Buffer.byteLength(value)
      for (const _escaped of value.matchAll(ESCAPED)) bytes++
    }
  }
  return bytes
}
/** Shorter ones pass, however many: a statement has a few dozen values. */
const LONG_TEXT = 64 << 10
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about
const ESCAPED = /[\0\b\t\n\r\x1a"'\\]/g

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
