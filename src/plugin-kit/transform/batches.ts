/** Regroups lists of any length into batches of at most `size` items. A batch ends earlier when its weight reaches `most`. */
export async function* inBatches<Item>(
  source: AsyncIterable<readonly Item[]>,
  size: number,
  weigh: (item: Item) => number = () => 0,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Item[]> {
  let batch: Item[] = []
  let weight = 0
  for await (const items of source) {
    for (const item of items) {
      batch.push(item)
      weight += weigh(item)
      if (batch.length < size && weight < most) continue
      yield batch
      batch = []
      weight = 0
    }
  }
  if (batch.length > 0) yield batch
}

/**
 * Prepares the next batch while the previous one is written: this process reads and parses while the database server stores.
 * There is at most one write at a time, so batches are stored in order.
 */
export async function eachWhileWriting<Item>(
  batches: AsyncIterable<Item[]>,
  prepare: (batch: Item[]) => Promise<() => Promise<void>>,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve()
  try {
    for await (const batch of batches) {
      const write = await prepare(batch)
      await writing
      writing = write()
      // Awaited one batch later; a rejection must not count as unhandled until then.
      writing.catch(() => {})
    }
  } finally {
    await writing
  }
}
