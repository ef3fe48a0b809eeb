import type { Database } from './database.ts'

/** Those in this process who wait for the same stand in line, so that one of them at a time takes up a connection. */
const lines = new WeakMap<object, Map<string, Promise<void>>>()

/** Of what `owner` has under this name. */
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

/** One at a time over all servers; those of this one wait without a connection each. */
export const oneAtATime = <Result>(database: Database, name: string, body: () => Promise<Result>): Promise<Result> =>
  inLine(database, name, () => database.locked(name, body))
