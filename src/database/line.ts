import type { Database } from './database.ts'

/** Calls in this process that wait for the same lock queue up here, so that only one of them at a time uses a connection. */
const lines = new WeakMap<object, Map<string, Promise<void>>>()

/** Runs `body` after all earlier calls with the same owner and name. */
export function inLine<Result>(owner: object, name: string, body: () => Promise<Result>): Promise<Result> {
  const own = lines.get(owner) ?? new Map<string, Promise<void>>()
  lines.set(owner, own)
  const mine = (own.get(name) ?? Promise.resolve()).then(body)
  const settled = mine.then(
    () => {},
    () => {},
  )
  own.set(name, settled)
  void settled.then(() => {
    if (own.get(name) === settled) own.delete(name)
  })
  return mine
}

/** Runs one call at a time across all servers. Waiting calls of this process need no connection each. */
export const oneAtATime = <Result>(database: Database, name: string, body: () => Promise<Result>): Promise<Result> =>
  inLine(database, name, () => database.locked(name, body))
