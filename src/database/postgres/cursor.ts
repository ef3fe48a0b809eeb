import type { Socket } from 'node:net'
import type { Connection } from 'pg'
import Cursor from 'pg-cursor'

/** The approximate number of bytes to fetch at a time. */
const BYTES = 2 << 20
const MOST_ROWS = 1000

/**
 * Fetches a number of rows that makes about the same load each time; the requested number is used only for the first fetch.
 * Each fetch costs a round trip, and of wide rows a few are enough. The next rows are requested while the current ones are
 * processed.
 */
export class EvenCursor<Row> extends Cursor<Row> {
  constructor(text: string, values: unknown[]) {
    super(text, values)
    let socket: Socket | undefined
    const submit = this.submit.bind(this)
    this.submit = (connection) => {
      socket = (connection as Connection & { readonly stream: Socket }).stream
      submit(connection)
    }
    const ask = (rows: number) => unlessClosed(socket, super.read(rows))
    let ahead: Promise<Row[]> | undefined
    let received = 0
    const read = async (rows: number) => {
      received ||= socket?.bytesRead ?? 0
      const found = await (ahead ?? ask(rows))
      if (found.length === 0) return found
      const now = socket?.bytesRead ?? 0
      const even = Math.floor((BYTES * found.length) / Math.max(1, now - received))
      received = now
      ahead = ask(Math.max(1, Math.min(MOST_ROWS, even)))
      // An error is reported when these rows are read.
      ahead.catch(() => {})
      return found
    }
    // If the connection ends first, nothing is left open on it.
    const close = () => unlessClosed(socket, super.close()).catch(() => {})
    Object.assign(this, { read, close })
  }
}

/** Rejects when the connection closes. The parent class would wait for an answer for ever. */
async function unlessClosed<Result>(socket: Socket | undefined, answer: Promise<Result>): Promise<Result> {
  const closed = Promise.withResolvers<never>()
  const fail = () => closed.reject(new Error('Connection terminated: the server closed it'))
  if (socket?.destroyed) fail()
  socket?.once('close', fail)
  return Promise.race([answer, closed.promise]).finally(() => socket?.off('close', fail))
}
