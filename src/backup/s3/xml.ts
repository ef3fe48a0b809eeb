/** Answers of these stores are flat, so a value can be found by its name. */
import { byName } from '../../basics/by-name.ts'

const ENTITIES: Readonly<Record<string, string>> = byName({ lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' })

const plain = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(lt|gt|quot|apos|amp));/gi, (whole, hex, decimal, name) => {
    if (name) return ENTITIES[name.toLowerCase()] ?? whole
    return String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal))
  })

/** The raw content of every element with this name. */
export function elementsIn(text: string, tag: string): string[] {
  const found: string[] = []
  const beginning = `<${tag}`
  for (let from = 0; ; ) {
    const start = text.indexOf(beginning, from)
    const open = text.indexOf('>', start)
    if (start < 0 || open < 0) return found
    from = start + 1
    // `<Keys>` is no `<Key>`.
    const isOther = !/[\s>]/.test(text.charAt(start + tag.length + 1))
    if (isOther) continue
    const end = text.indexOf(`</${tag}>`, open)
    if (end < 0) return found
    found.push(text.slice(open + 1, end))
    from = end
  }
}

export function valueIn(text: string, name: string): string | undefined {
  const [first] = elementsIn(text, name)
  return first === undefined ? undefined : plain(first)
}

export const asText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
