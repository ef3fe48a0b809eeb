/** The largest body that a route accepts. A body that is larger, or has more parts, is refused before it is parsed. */
export interface SizeLimit {
  readonly bytes: number
  /** Number of field names and list items, all together. */
  readonly values: number
}

const KB = 1024
const MB = 1024 * KB

export const SIZES = {
  /** No body is read. */
  none: { bytes: 1, values: 1 },
  /** A few words. Routes that anyone may call can have only this size. */
  small: { bytes: 16 * KB, values: 1000 },
  /** The settings of one thing; a connection may have thousands of tokens. */
  settings: { bytes: MB, values: 10_000 },
  /** Many things at once, or a long text. */
  list: { bytes: 4 * MB, values: 100_000 },
  /** A file in a form, with the form around it. */
  file: { bytes: 20 * MB + 64 * KB, values: 12 },
  /** A delivery of a vendor: GitHub's are the largest. Its signature is checked before it is parsed. */
  delivery: { bytes: 25 * MB, values: 2_000_000 },
} as const satisfies Record<string, SizeLimit>

export type RouteSize = keyof typeof SIZES

/**
 * The load that a route puts on the thread that answers all requests. `light`: other requests do not notice it. `heavy`: it
 * parses, matches, renders or packs so much that they would; this is done in another thread, with a time limit. `streamed`: it
 * sends any amount of data piece by piece, and other requests get their turn in between.
 */
export type RouteCost = 'light' | 'heavy' | 'streamed'
