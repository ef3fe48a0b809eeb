export interface SourceFile {
  /** Path from the repository's root, with forward slashes. */
  readonly path: string
  readonly text: string
}

/** `src/errors.ts:12`, for the character at this index of its text. */
export const placeAt = ({ path, text }: SourceFile, index: number): string =>
  `${path}:${text.slice(0, index).split('\n').length}`
