/** A period in whole seconds; both ends are included. */
export interface DateWindow {
  readonly from: Date
  readonly to: Date
}

interface SplitByDateOptions extends DateWindow {
  /** The most results that the vendor returns for one query. */
  readonly cap: number
  /** Asks how many results the vendor counts in a window. */
  readonly probe: (window: DateWindow) => Promise<number>
  readonly newestFirst?: boolean
  /** The longest window that the vendor accepts, in milliseconds. */
  readonly longest?: number | undefined
}

const SECOND = 1000

interface CountedWindow extends DateWindow {
  readonly total: number
  /** The window is a single second with more results than the vendor returns. */
  readonly isOver: boolean
}

/** Cuts a time range into windows that can be read completely in spite of a vendor's paging limit. Empty windows are left out. */
export async function* splitByDate(options: SplitByDateOptions): AsyncGenerator<CountedWindow, void> {
  const { cap, probe, newestFirst = false } = options
  const first = Math.floor(options.from.getTime() / SECOND)
  const last = Math.floor(options.to.getTime() / SECOND)
  const waiting = piecesOf(first, last, Math.max(1, Math.floor((options.longest ?? Number.POSITIVE_INFINITY) / SECOND)))
  if (!newestFirst) waiting.reverse()
  for (let range = waiting.pop(); range; range = waiting.pop()) {
    const [start, end] = range
    const window = { from: new Date(start * SECOND), to: new Date(end * SECOND) }
    const total = await probe(window)
    if (total === 0) continue
    if (total <= cap || start === end) {
      yield { ...window, total, isOver: total > cap }
      continue
    }
    const middle = Math.floor((start + end) / 2)
    const halves = [[start, middle] as const, [middle + 1, end] as const]
    waiting.push(...(newestFirst ? halves : halves.reverse()))
  }
}

/** Pieces of at most `seconds` seconds, the earliest first. */
function piecesOf(first: number, last: number, seconds: number): (readonly [number, number])[] {
  if (first > last) return []
  if (seconds === Number.POSITIVE_INFINITY) return [[first, last]]
  return Array.from({ length: Math.ceil((last - first + 1) / seconds) }, (_, index) => {
    const start = first + index * seconds
    return [start, Math.min(start + seconds - 1, last)] as const
  })
}
