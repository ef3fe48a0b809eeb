import type { ApiClient } from './api-client.ts'
import { isHeavy } from './failure.ts'
import type { HttpRequest, HttpResponse } from './http-message.ts'

export interface Batch<Item> {
  readonly items: readonly Item[]
  readonly response: HttpResponse
}

/** Asks for many things by name, `size` in one request, in order. A batch that proves too heavy for the server is halved. */
export async function* inBatches<Item>(
  client: Pick<ApiClient, 'send'>,
  items: readonly Item[],
  { size, request }: { readonly size: number; readonly request: (items: readonly Item[]) => HttpRequest },
  signal: AbortSignal,
): AsyncGenerator<Batch<Item>, void> {
  let current = size
  for (let start = 0; start < items.length; ) {
    const batch = items.slice(start, start + current)
    const isDivisible = batch.length > 1
    let response: HttpResponse
    try {
      response = await client.send({ ...request(batch), ...(isDivisible && { heavyAttempts: 2 }) }, signal)
    } catch (error) {
      if (!isHeavy(error) || !isDivisible) throw error
      current = Math.ceil(batch.length / 2)
      continue
    }
    yield { items: batch, response }
    start += batch.length
    current = Math.min(size, current * 2)
  }
}
