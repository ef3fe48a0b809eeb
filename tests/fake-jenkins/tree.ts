/** Jenkins' `tree` parameter: `jobs[name,builds[number]{0,100}]`. https://www.jenkins.io/doc/book/using/remote-access-api/ */

export interface Wish {
  readonly name: string
  readonly inner?: readonly Wish[]
  readonly range?: { readonly from: number; readonly to: number }
}

export class BadTree extends Error {}

export function parseTree(text: string): readonly Wish[] {
  let at = 0
  const wishes = list()
  if (at < text.length) throw new BadTree(`unexpected ${text[at]} at ${at}`)
  return wishes

  function list(): Wish[] {
    const found = [wish()]
    while (text[at] === ',') {
      at++
      found.push(wish())
    }
    return found
  }
  function wish(): Wish {
    const [name] = /^[\w*-]+/.exec(text.slice(at)) ?? []
    if (!name) throw new BadTree(`a name is missing at ${at}`)
    at += name.length
    let inner: Wish[] | undefined
    if (text[at] === '[') {
      at++
      inner = list()
      if (text[at] !== ']') throw new BadTree(`] is missing at ${at}`)
      at++
    }
    const [whole, from, comma, to] = /^\{(\d*)(,?)(\d*)\}/.exec(text.slice(at)) ?? []
    if (whole === undefined) return { name, ...(inner && { inner }) }
    at += whole.length
    const start = Number(from || 0)
    const end = comma ? (to ? Number(to) : Number.POSITIVE_INFINITY) : start + 1
    return { name, ...(inner && { inner }), range: { from: start, to: end } }
  }
}

/** A long list that creates only the elements in a requested range. */
class Listing {
  readonly cut: (from: number, to: number) => unknown[]
  constructor(cut: (from: number, to: number) => unknown[]) {
    this.cut = cut
  }
}
export const listOf = <Thing>(things: readonly Thing[], show: (thing: Thing) => unknown) =>
  new Listing((from, to) => things.slice(from, to).map(show))

/** Returns the requested parts of a value. Lists are cut to the range before their elements are read. */
export function picked(thing: any, wishes: readonly Wish[]): unknown {
  if (thing === null || typeof thing !== 'object') return thing
  if (Array.isArray(thing)) return thing.map((each) => picked(each, wishes))
  const found: Record<string, unknown> = thing._class ? { _class: thing._class } : {}
  for (const { name, inner, range } of wishes) {
    const names = name === '*' ? Object.keys(thing) : [name]
    for (const each of names) {
      const value = thing[each]
      if (value === undefined) continue
      const { from, to } = range ?? { from: 0, to: Number.POSITIVE_INFINITY }
      const cut = value instanceof Listing ? value.cut(from, to) : Array.isArray(value) ? value.slice(from, to) : value
      found[each] = inner ? picked(cut, inner) : shallow(cut)
    }
  }
  return found
}

/** Without requested fields, Jenkins returns plain values and no nested objects. */
const shallow = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((each) => (typeof each === 'object' ? {} : each))
  return value !== null && typeof value === 'object' ? {} : value
}
