import type { DatabaseConnection, MysqlDialect } from 'kysely'
import type { PoolConnection } from 'mysql2'
import type { AnyValue } from '../column.ts'
import type { StatementSize } from './send-rows.ts'

/**
 * Kysely passes on the rows of a stream one by one, through many layers; here they are sent in chunks. It also sends
 * statements of any length, which breaks the connection if the server accepts less. So they are checked first.
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

/**
 * The size of the long values as the driver writes them into the statement: bytes as hexadecimal, and a backslash before some
 * characters.
 */
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
/** Shorter texts are not counted, because a statement has only a few dozen values. */
const LONG_TEXT = 64 << 10
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about
const ESCAPED = /[\0\b\t\n\r\x1a"'\\]/g

/** The driver does not tell a stream that its connection is lost, so its reader would wait for ever. This passes the error on. */
export function tellStreams(connection: PoolConnection): void {
  const query = connection.query.bind(connection) as (...parameters: unknown[]) => AnyValue
  connection.query = (...parameters: unknown[]) => {
    // This also covers a query on a connection that is closed already. The stream is created after this.
    const fail = (error: Error) =>
      process.nextTick(() => command.listenerCount('error') > 0 && command.emit('error', error))
    connection.once('error', fail)
    const command = query(...parameters)
    command.once('end', () => connection.off('error', fail))
    return command
  }
}
