/** Variables in compose files: `$NAME`, `${NAME}`, `${NAME:-default}`, `${NAME:?message}`, one inside the other, and `$$`. */
export function interpolate(text: string, environment: Readonly<Record<string, string>>): string {
  let result = ''
  for (let at = 0; at < text.length; ) {
    const plain = /^\$([A-Za-z_]\w*)/.exec(text.slice(at))
    if (text.startsWith('$$', at)) {
      result += '$'
      at += 2
    } else if (text.startsWith('${', at)) {
      const end = closingBrace(text, at + 2)
      result += variableText(text.slice(at + 2, end), environment)
      at = end + 1
    } else if (plain) {
      result += environment[plain[1] as string] ?? ''
      at += plain[0].length
    } else {
      result += text[at]
      at++
    }
  }
  return result
}

function closingBrace(text: string, from: number): number {
  for (let at = from, depth = 1; at < text.length; at++) {
    if (text.startsWith('${', at)) depth++
    if (text[at] === '}' && --depth === 0) return at
  }
  throw new Error(`a brace is not closed in ${text}`)
}

function variableText(inside: string, environment: Readonly<Record<string, string>>): string {
  const [, name = '', sign, rest = ''] = /^(\w+)(?::([-?])(.*))?$/s.exec(inside) ?? []
  if (name === '') throw new Error(`not a variable: ${inside}`)
  const value = environment[name]
  if (value) return value
  if (sign === '?') throw new Error(`${name}: ${rest}`)
  return sign === '-' ? interpolate(rest, environment) : ''
}

/** The names of all variables in a text. */
export const variablesIn = (text: string): string[] => [
  ...new Set([...text.replaceAll('$$', '').matchAll(/\$\{(\w+)/g)].map(([, name]) => name as string)),
]

/** Interpolates every string in a value. */
export function interpolateAll<Value>(value: Value, environment: Readonly<Record<string, string>>): Value {
  if (typeof value === 'string') return interpolate(value, environment) as Value
  if (Array.isArray(value)) return value.map((each) => interpolateAll(each, environment)) as Value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, interpolateAll(each, environment)]),
  ) as Value
}
