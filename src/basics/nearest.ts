/** Answers unknown names with the names that were probably meant, and a list of those that exist. */
import { UserError } from '../errors.ts'

/** The effort of a comparison is the product of both lengths, and nobody misspells a longer name. */
const LONGEST = 100
/** The most names compared, because the sender and others wait for the answer. */
const MOST_COMPARED = 1000
const MOST_GUESSES = 3
const MOST_LISTED = 50

/** The known names that differ from this one in only a few letters, the closest first. */
function similar(name: string, known: Iterable<string>): string[] {
  if (name.length > LONGEST) return []
  const guesses: { readonly name: string; readonly distance: number }[] = []
  let compared = 0
  for (const candidate of known) {
    const allowed = Math.max(2, Math.floor(candidate.length / 4))
    // The edit distance is at least the difference in length.
    if (candidate.length > LONGEST || Math.abs(candidate.length - name.length) > allowed) continue
    if (++compared > MOST_COMPARED) break
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance <= allowed && distance < candidate.length) guesses.push({ name: candidate, distance })
  }
  return guesses.sort((one, other) => one.distance - other.distance).map((guess) => guess.name)
}

/** The name that was most probably meant. */
export const closest = (name: string, known: Iterable<string>): string | undefined => similar(name, known)[0]

/** `issueCategory` → issue, Category */
const wordsOf = (name: string): string[] => name.split(/(?=\p{Lu})|[^\p{L}\p{N}]+/u).filter((word) => word.length > 3)

/** The names that were probably meant: similar ones, then names that contain this one or have a similar word. */
export function nearest(name: string, known: readonly string[]): string[] {
  const part = name.toLowerCase()
  const holding =
    part.length < 3 || part.length > LONGEST ? [] : known.filter((each) => each.toLowerCase().includes(part))
  const byWord = known.filter((each) => closest(name, wordsOf(each)) !== undefined)
  return [...new Set([...similar(name, known), ...holding, ...byWord])].slice(0, MOST_GUESSES)
}

/** Optimal string alignment: swapping two adjacent letters, the most common typo, costs one. */
function editDistance(left: string, right: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1]
      let cost = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + (same ? 0 : 1))
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        cost = Math.min(cost, beforePrevious[column - 2]! + 1)
      }
      current.push(cost)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[right.length]!
}

export const didYouMean = (name: string, known: Iterable<string>): string => {
  const best = closest(name, known)
  return best === undefined ? '' : `; did you mean ${best}?`
}

/** Returns `; did you mean a or b?`, or a full stop when no name is close. */
export function guessOf(name: string, known: readonly string[]): string {
  const guesses = nearest(name, known)
  return guesses.length > 0 ? `; did you mean ${guesses.join(' or ')}?` : '.'
}

/** `There are: a, b, c.` */
export function listOf(known: readonly string[]): string {
  if (known.length === 0) return 'There are none yet.'
  const more = known.length > MOST_LISTED ? ` and ${known.length - MOST_LISTED} more` : ''
  return `There are: ${known.slice(0, MOST_LISTED).join(', ')}${more}.`
}

/** Returns `; did you mean a or b? There are: a, b, c.`, to be appended to a sentence about an unknown name. */
export function hintOf(name: string, known: Iterable<string>): string {
  const all = [...known]
  return `${guessOf(name, all)} ${listOf(all)}`
}

/** Shortens a name from a request so that it can be shown. */
export const shortName = (name: string): string => (name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name)

/** `what` is the kind of thing, such as `plugin` or `option of this command`. */
export const unknownName = (what: string, name: string, known: Iterable<string>, status = 404): UserError =>
  new UserError(`There is no ${what} ${shortName(name)}${hintOf(name, known)}`, { status })
