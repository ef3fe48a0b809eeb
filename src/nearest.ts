/** Unknown names are answered with what was most likely meant, and with what there is. */
import { UserError } from './errors.ts'

/** Comparing takes as many steps as both names have letters, multiplied; nobody misspells a longer name. */
const LONGEST = 100
const MOST_GUESSES = 3
const MOST_LISTED = 50

/** The known names within a few letters of this one, the best first. */
function similar(name: string, known: Iterable<string>): string[] {
  if (name.length > LONGEST) return []
  const guesses: { readonly name: string; readonly distance: number }[] = []
  for (const candidate of known) {
    const allowed = Math.max(2, Math.floor(candidate.length / 4))
    // As many letters as one is longer than the other have to go.
    if (candidate.length > LONGEST || Math.abs(candidate.length - name.length) > allowed) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance <= allowed && distance < candidate.length) guesses.push({ name: candidate, distance })
  }
  return guesses.sort((one, other) => one.distance - other.distance).map((guess) => guess.name)
}

/** The one that was most likely meant. */
export const closest = (name: string, known: Iterable<string>): string | undefined => similar(name, known)[0]

/** Those that were most likely meant: similar ones, or else those that it is a part of. */
export function nearest(name: string, known: readonly string[]): string[] {
  const part = name.toLowerCase()
  const holding =
    part.length < 3 || part.length > LONGEST ? [] : known.filter((each) => each.toLowerCase().includes(part))
  return [...new Set([...similar(name, known), ...holding])].slice(0, MOST_GUESSES)
}

/** Optimal string alignment: a swap of neighbours, the commonest typo, costs one. */
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

/** `; did you mean a or b? There are a, b, c.`, to stand after what is unknown. */
export function hintOf(name: string, known: Iterable<string>): string {
  const all = [...known]
  const guesses = nearest(name, all)
  const question = guesses.length > 0 ? `; did you mean ${guesses.join(' or ')}?` : '.'
  const more = all.length > MOST_LISTED ? ` and ${all.length - MOST_LISTED} more` : ''
  const list = all.slice(0, MOST_LISTED).join(', ')
  return `${question} ${all.length === 0 ? 'There are none yet.' : `There are: ${list}${more}.`}`
}

/** What is shown of a name that somebody sent. */
export const shortName = (name: string): string => (name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name)

/** `what` with its article, such as `plugin` or `option of this command`. */
export const unknownName = (what: string, name: string, known: Iterable<string>, status = 404): UserError =>
  new UserError(`There is no ${what} ${shortName(name)}${hintOf(name, known)}`, { status })
