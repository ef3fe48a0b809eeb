type WordLists<Name extends string> = Readonly<Record<Name, readonly string[]>>

/** Every list is searched for every record of a run, so each is turned into a map once. */
const indexes = new WeakMap<object, ReadonlyMap<string, string>>()

function mapOf(lists: WordLists<string>): ReadonlyMap<string, string> {
  const index = new Map<string, string>()
  for (const [name, words] of Object.entries(lists)) {
    for (const word of words) if (!index.has(word.toLowerCase())) index.set(word.toLowerCase(), name)
  }
  indexes.set(lists, index)
  return index
}

/** The name of the first list that contains the word, in any letter case; else the fallback. */
export function classify<Name extends string, Fallback extends string>(
  word: string | null | undefined,
  lists: WordLists<Name>,
  fallback: Fallback,
): Name | Fallback {
  return ((indexes.get(lists) ?? mapOf(lists)).get((word ?? '').toLowerCase()) as Name | undefined) ?? fallback
}
