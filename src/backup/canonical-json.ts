/** Engines store JSON in different forms: one orders keys and adds spaces, the other keeps what it was sent. */

/** The JavaScript engine has it, but the types do not yet. */
const { rawJSON } = JSON as unknown as { rawJSON(source: string): unknown }

/** Gives the same text for the same value: keys in order, no spaces, and numbers with all their digits. */
export const canonicalJson = (text: string): string => JSON.stringify(JSON.parse(text, inOrder as Reviver))

type Reviver = (name: string, value: unknown) => unknown

function inOrder(_name: string, value: unknown, { source = '' }: { source?: string }): unknown {
  if (typeof value === 'number') return /\d{16}/.test(source.replace('.', '')) ? rawJSON(source) : value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}
