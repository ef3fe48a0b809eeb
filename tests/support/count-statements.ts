import mysql2 from 'mysql2'
import pg from 'pg'

type Send = (...parameters: any[]) => unknown

/** The methods through which every statement of the two drivers passes. */
const GATES: readonly (readonly [Record<string, Send>, name: string])[] = [
  [ownerOf(pg.Client.prototype, 'query'), 'query'],
  [
    ownerOf((mysql2 as unknown as { Connection: { prototype: object } }).Connection.prototype, 'addCommand'),
    'addCommand',
  ],
]

function ownerOf(prototype: object, name: string): Record<string, Send> {
  return (Object.hasOwn(prototype, name) ? prototype : ownerOf(Object.getPrototypeOf(prototype), name)) as Record<
    string,
    Send
  >
}

/** Counts the statements that `body` sends from this process, to PostgreSQL or MySQL, by the first word of each statement. */
export async function countStatements(body: () => Promise<unknown>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const undo = GATES.map(([owner, name]) => {
    const send = owner[name] as Send
    owner[name] = function (this: unknown, ...parameters) {
      const kind = textOf(parameters[0]).trim().split(/[\s;]/)[0]
      if (kind) counts[kind] = (counts[kind] ?? 0) + 1
      return send.apply(this, parameters)
    }
    return () => {
      owner[name] = send
    }
  })
  try {
    await body()
  } finally {
    for (const putBack of undo) putBack()
  }
  return counts
}

function textOf(statement: string | { readonly sql?: string; readonly text?: string }): string {
  return typeof statement === 'string' ? statement : (statement.sql ?? statement.text ?? '')
}
