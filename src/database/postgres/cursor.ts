import type { Socket } from 'node:net'
import type { Connection } from 'pg'
import Cursor from 'pg-cursor'

/** Received at a time, about. */
const BYTES = 2 << 20
const MOST_ROWS = 1000

/**
 * Asks for as many rows as make an even load, and for the number that it is told only the first time: each time costs a round
 * to the server, and of wide rows a few are enough.
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
    let even: number | undefined
    const ask = this.read.bind(this) as (rows: number) => Promise<Row[]>
    const read = async (rows: number) => {
      const before = socket?.bytesRead ?? 0
      const found = await ask(even ?? rows)
      const bytes = (socket?.bytesRead ?? 0) - before
      even = Math.max(1, Math.min(MOST_ROWS, Math.floor((BYTES * found.length) / Math.max(1, bytes))))
      return found
    }
    Object.assign(this, { read })
  }
}
