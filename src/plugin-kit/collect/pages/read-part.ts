/** Reads the pages of a part in order, and stores each with the checkpoint that counts it. */
import type { RawRecord } from '../../../database/table.ts'
import { type HttpResponse, type Page, type Paging, singlePage } from '../../http/index.ts'
import type { Collection, OpenList, Part, Reading } from '../collection.ts'
import { type PartResult, resultOf, takePage } from './page.ts'
import { recordsReader } from './records.ts'

export async function readPart(
  collection: Collection,
  open: OpenList,
  part: Part,
  signal: AbortSignal,
): Promise<PartResult> {
  const { spec, client, store, unstored } = collection
  const { list, request, paging } = open
  const records = recordsReader(list.records ?? spec.records, paging !== singlePage)
  const pages = list.answer
    ? only(pageOf(list.answer, records.of, paging))
    : client.pages(request, paging, signal, { from: part.resume?.from ?? part.start, records: records.of })
  const reading: Reading = {
    collection,
    open,
    part,
    signal,
    records,
    received: part.resume?.received ?? 0,
    read: part.resume?.from.read ?? 0,
    firstTotal: undefined,
    total: undefined,
    isCut: false,
    known: list.group === undefined ? undefined : collection.reaches.get(list.group),
    newest: part.resume?.from.newest,
  }
  let storing: Promise<void> = Promise.resolve()
  try {
    for (;;) {
      const leave = await unstored.enter(signal)
      let isHandedOver = false
      try {
        const { value: page } = await pages.next()
        if (!page) break
        const { rest, isLast, ...stored } = await takePage(reading, page)
        // Pages are stored in order: a checkpoint must not be stored before the previous page.
        await storing
        storing = store(stored).finally(leave)
        isHandedOver = true
        storing.catch(() => {})
        if (rest) return { ...resultOf(reading), rest, pageBytes: page.response.bytes.length }
        if (isLast) break
      } finally {
        if (!isHandedOver) leave()
      }
    }
  } finally {
    await pages.return()
    await storing
  }
  return resultOf(reading)
}

async function* only(page: Page): AsyncGenerator<Page, void> {
  yield page
}

const pageOf = (response: HttpResponse, records: (body: RawRecord) => readonly unknown[], paging: Paging): Page => ({
  response,
  records: records(response.body),
  problems: [],
  total: paging.total?.(response),
  at: paging.first(),
  state: undefined,
})
