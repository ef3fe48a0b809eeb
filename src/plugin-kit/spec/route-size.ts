/** How much a route takes. What is larger, or has more parts, is refused before it is parsed. */
export interface SizeLimit {
  readonly bytes: number
  /** Names of fields and items of lists, all together. */
  readonly values: number
}

const KB = 1024
const MB = 1024 * KB

export const SIZES = {
  /** No body is read. */
  none: { bytes: 1, values: 1 },
  /** A few words: the only size that a route may have that anyone may call. */
  small: { bytes: 16 * KB, values: 1000 },
  /** The settings of one thing; a connection may have thousands of tokens. */
  settings: { bytes: MB, values: 10_000 },
  /** Many things at once, or a long text. */
  list: { bytes: 4 * MB, values: 100_000 },
  /** A file in a form, with the form around it. */
  file: { bytes: 20 * MB + 64 * KB, values: 12 },
  /** What vendors send: GitHub's are the largest. Its signature is checked before it is parsed. */
  delivery: { bytes: 25 * MB, values: 2_000_000 },
} as const satisfies Record<string, SizeLimit>

export type RouteSize = keyof typeof SIZES

/**
 * What a route costs the thread that answers everybody. `light`: nothing that others would feel. `heavy`: it parses, matches,
 * renders or packs so much that they would; this is done in a thread, with a time limit. `streamed`: it sends as much as
 * there is, piece by piece, and others get their turn in between.
 */
export type RouteCost = 'light' | 'heavy' | 'streamed'
