/**
 * Runs `work` for every item, at most `concurrency` at a time. The first failure aborts the signal that the others were given,
 * so that none of them waits an hour for quota. It is thrown once they have all ended.
 */
export async function eachSideBySide<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  concurrency: number,
  signal: AbortSignal,
  work: (item: Item, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  let failure: { readonly error: unknown } | undefined
  const fail = (error: unknown) => {
    failure ??= { error }
    stop.abort(error)
  }
  try {
    for await (const item of items) {
      if (either.aborted) break
      const one: Promise<void> = work(item, either)
        .catch(fail)
        .finally(() => running.delete(one))
      running.add(one)
      if (running.size >= concurrency) await Promise.race(running)
    }
  } catch (error) {
    fail(error)
  }
  await Promise.all(running)
  if (failure) throw failure.error
  signal.throwIfAborted()
}
