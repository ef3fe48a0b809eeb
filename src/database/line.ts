/** Those who wait for the same in this process stand in line, so that one of them at a time takes up a connection. */
const last = new Map<string, Promise<unknown>>()

export function inLine<Result>(name: string, body: () => Promise<Result>): Promise<Result> {
  const mine = (last.get(name) ?? Promise.resolve()).then(body)
  const settled = mine.then(
    () => {},
    () => {},
  )
  last.set(name, settled)
  void settled.then(() => {
    if (last.get(name) === settled) last.delete(name)
  })
  return mine
}
