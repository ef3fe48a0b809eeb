type Known = string | number | bigint
type MaybeKnown = Known | null | undefined

/**
 * A domain id: `github:GithubRepo` and 1, 384111310 give `github:GithubRepo:1:384111310`. Parts go in as they are, so an id
 * can be split from the left only.
 *
 * Null when a part is unknown: null, undefined, or the '' that stands for missing text. A key column refuses that null,
 * any other column stores it as missing.
 */
export function domainId(prefix: string, ...parts: Known[]): string
export function domainId(prefix: MaybeKnown, ...parts: MaybeKnown[]): string | null
export function domainId(...parts: MaybeKnown[]): string | null {
  return parts.some((part) => part === null || part === undefined || part === '') ? null : parts.join(':')
}
