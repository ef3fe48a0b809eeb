export interface XmlNode {
  readonly name: string
  readonly children: XmlNode[]
  text: string
}

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

export const escapeXml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]!)

/** Reads the subset of XML that AWS uses: elements and text. */
export function readXml(source: string): XmlNode {
  const root: XmlNode = { name: '', children: [], text: '' }
  const open = [root]
  for (const [, declaration, closing, name, empty, text] of source.matchAll(
    /<(?:(\?[^>]*)|(\/?)([\w:]+)[^>]*?(\/?))>|([^<]+)/g,
  )) {
    const parent = open.at(-1)!
    if (declaration !== undefined) continue
    if (text !== undefined) parent.text += text.replace(/&(\w+);/g, (all, key) => ENTITIES[key] ?? all)
    else if (closing === '/') {
      if (open.pop()!.name !== name) throw new Error(`</${name}> closes what was not opened`)
    } else {
      const node: XmlNode = { name: name!, children: [], text: '' }
      parent.children.push(node)
      if (empty !== '/') open.push(node)
    }
  }
  if (open.length !== 1 || root.children.length !== 1) throw new Error('not one whole element')
  return root.children[0]!
}

export const childOf = (node: XmlNode | undefined, ...path: readonly string[]): XmlNode | undefined =>
  path.reduce((found, name) => found?.children.find((child) => child.name === name), node)
export const textIn = (node: XmlNode | undefined, ...path: readonly string[]): string | undefined =>
  childOf(node, ...path)?.text
