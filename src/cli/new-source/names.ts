/** One name in all forms that code needs. Refuses what cannot be a name. */
import { UserError } from '../../errors.ts'

export interface SourceNames {
  /** In addresses and tables, such as acme_ci. */
  readonly name: string
  /** For people, such as Acme CI. */
  readonly title: string
  /** For the folder and the files, such as acme-ci. */
  readonly folder: string
  /** The export of plugin.ts, such as acmeCi. */
  readonly variable: string
  /** In ids, such as AcmeCi. */
  readonly type: string
}

/** Names of tables contain it, and those have at most 63 characters. */
const LONGEST = 30
const LONGEST_TITLE = 60
const ALLOWED = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/
const RESERVED = new Set(
  (
    'arguments as async await boolean break case catch class const continue debugger default delete do else enum eval export ' +
    'extends false finally for from function if implements import in instanceof interface let new null number object of package ' +
    'private protected public return static string super switch symbol this throw true try type typeof undefined var void while ' +
    'with yield'
  ).split(' '),
)

const large = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

export function sourceNames(name: string, title?: string): SourceNames {
  if (name.length > LONGEST || !ALLOWED.test(name)) {
    throw new UserError(
      `"${name.slice(0, LONGEST)}" cannot be the name of a source: use small letters and digits, at most ${LONGEST}, beginning with a letter, with _ between words, such as acme_ci.`,
    )
  }
  const words = name.split('_')
  const type = words.map(large).join('')
  const variable = type.charAt(0).toLowerCase() + type.slice(1)
  if (RESERVED.has(variable)) {
    throw new UserError(`"${name}" is a word of TypeScript: choose another name, such as ${name}_tool.`)
  }
  return { name, title: titleOf(title ?? words.map(large).join(' ')), folder: words.join('-'), variable, type }
}

/** The title is written into code between quotes. */
function titleOf(title: string): string {
  const isPlain = [...title].every((letter) => letter >= ' ' && !`'"\`\\$`.includes(letter))
  if (title.trim() !== '' && title === title.trim() && title.length <= LONGEST_TITLE && isPlain) return title
  throw new UserError(
    `The title cannot be used: write 1 to ${LONGEST_TITLE} characters without quotation marks, backslashes and $, such as --title "Acme CI".`,
  )
}

/** Replaces an example's name in a text or path with these names. The characters around it tell which form is meant. */
export function renamed(text: string, example: RegExp, { name, title, folder, variable, type }: SourceNames): string {
  const isPath = (before: string, after: string) =>
    /(fake-|plugins\/)$/.test(before) || /^\.(test|example)\./.test(after)
  return text.replaceAll(example, (word, place: number) => {
    const before = text.slice(0, place)
    const after = text.slice(place + word.length)
    if (/^[A-Z]/.test(word)) return /[a-z]$/.test(before) || /^[A-Z]/.test(after) ? type : title
    if (isPath(before, after)) return folder
    return /['"`_]$/.test(before) && /^['":_]/.test(after) ? name : variable
  })
}
