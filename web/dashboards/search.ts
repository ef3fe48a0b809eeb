/** Addresses: writes ranges and variables as Grafana does, and everything else as the router does. */
import { defaultParseSearch, defaultStringifySearch } from '@tanstack/react-router'

const isPlain = (name: string) => name.startsWith('var-') || name === 'from' || name === 'to'

export function parseSearch(text: string): Record<string, unknown> {
  const all = new URLSearchParams(text)
  const rest = new URLSearchParams([...all].filter(([name]) => !isPlain(name)))
  const plain = [...new Set(all.keys())].filter(isPlain).map((name) => {
    const values = all.getAll(name)
    return [name, values.length === 1 ? values[0] : values]
  })
  return { ...defaultParseSearch(`?${rest}`), ...Object.fromEntries(plain) }
}

export function stringifySearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search).filter(([, value]) => value !== undefined)
  const plain = entries
    .filter(([name]) => isPlain(name))
    .flatMap(([name, value]) => [value].flat().map((each): [string, string] => [name, String(each)]))
  const rest = defaultStringifySearch(Object.fromEntries(entries.filter(([name]) => !isPlain(name)))).slice(1)
  const text = [new URLSearchParams(plain).toString(), rest].filter(Boolean).join('&')
  return text && `?${text}`
}
