/** Defects of one file, and the tests that have to find each of them. */
export interface Plot {
  readonly file: string
  readonly tests: readonly string[]
  /** A text that the file has exactly once, and what stands in its place for the defect. */
  readonly defects: readonly (readonly [text: string, instead: string])[]
}
