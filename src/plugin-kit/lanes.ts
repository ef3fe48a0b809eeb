/** Runs `work` for every item, at most `lanes` at a time. The first failure stops taking items and is thrown at the end. */
export async function eachInLanes<Item>(
  items: AsyncIterable<Item>,
  lanes: number,
  signal: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  let failure: { readonly error: unknown } | undefined
  const fail = (error: unknown) => {
    failure ??= { error }
  }
  try {
    for await (const item of items) {
      if (failure || signal.aborted) break
      const lane: Promise<void> = work(item)
        .catch(fail)
        .finally(() => running.delete(lane))
      running.add(lane)
      if (running.size >= lanes) await Promise.race(running)
    }
  } catch (error) {
    fail(error)
  }
  await Promise.all(running)
  if (failure) throw failure.error
  signal.throwIfAborted()
}
