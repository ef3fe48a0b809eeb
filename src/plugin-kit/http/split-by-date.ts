import { FatalError } from '../../errors.ts'

/** Both ends included, in whole seconds. */
export interface DateWindow {
  readonly from: Date
  readonly to: Date
}

export interface SplitByDateOptions extends DateWindow {
  /** The most that the vendor hands out for one query. */
  readonly cap: number
  /** How many results the vendor counts in a window. */
  readonly probe: (window: DateWindow) => Promise<number>
  readonly newestFirst?: boolean
}

const SECOND = 1000

/** Cuts a time range into windows that a vendor's paging cap allows to be read whole. Empty ones are left out. */
export async function* splitByDate(
  options: SplitByDateOptions,
): AsyncGenerator<DateWindow & { readonly total: number }, void> {
  const { cap, probe, newestFirst = false } = options
  const first = Math.floor(options.from.getTime() / SECOND)
  const last = Math.floor(options.to.getTime() / SECOND)
  const waiting = first <= last ? [[first, last] as const] : []
  for (let range = waiting.pop(); range; range = waiting.pop()) {
    const [start, end] = range
    const window = { from: new Date(start * SECOND), to: new Date(end * SECOND) }
    const total = await probe(window)
    if (total === 0) continue
    if (total <= cap) {
      yield { ...window, total }
      continue
    }
    if (start === end) {
      throw new FatalError(
        `${total} results within the one second of ${window.from.toISOString()}, but the server hands out at most ${cap}: they cannot all be read`,
      )
    }
    const middle = Math.floor((start + end) / 2)
    const halves = [[start, middle] as const, [middle + 1, end] as const]
    waiting.push(...(newestFirst ? halves : halves.reverse()))
  }
}
