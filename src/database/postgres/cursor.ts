import type { Socket } from 'node:net'
import type { Connection } from 'pg'
import Cursor from 'pg-cursor'

/** Received at a time, about. */
const BYTES = 2 << 20
const MOST_ROWS = 1000

/**
 * Asks for as many rows as make an even load, and for the number that it is told only the first time: each time costs a round
 * to the server, and of wide rows a few are enough. The next ones are asked for before these are worked on.
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
      // Told when they are read.
      ahead.catch(() => {})
      return found
    }
    // Nothing is left open on a connection that ends first.
    const close = () => unlessClosed(socket, super.close()).catch(() => {})
    Object.assign(this, { read, close })
  }
}

/** The parent waits for an answer without end, be it that the connection ends. */
async function unlessClosed<Result>(socket: Socket | undefined, answer: Promise<Result>): Promise<Result> {
  const closed = Promise.withResolvers<never>()
  const fail = () => closed.reject(new Error('Connection terminated: the server closed it'))
  if (socket?.destroyed) fail()
  socket?.once('close', fail)
  return Promise.race([answer, closed.promise]).finally(() => socket?.off('close', fail))
}
