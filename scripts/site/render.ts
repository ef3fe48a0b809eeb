/** Renders one Markdown document as HTML, with headings named as GitHub names them. */
import MarkdownIt from 'markdown-it'

export interface Section {
  readonly anchor: string
  readonly title: string
  /** The first words of the section, for the search. */
  readonly text: string
}
export interface Rendered {
  readonly title: string
  readonly html: string
  readonly sections: readonly Section[]
}

/** The most text of a section: enough to find it, while the index stays small. */
const LONGEST_TEXT = 400

const anchorOf = (title: string) =>
  title
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

// Comments in documents (`<!-- not run … -->`) are for tests; other HTML is not used.
const withoutComments = (text: string) => text.replaceAll(/^\s*<!--.*?-->\n/gm, '')

export function renderDocument(text: string, link: (target: string) => string): Rendered {
  const markdown = new MarkdownIt({ html: false, linkify: true })
  const tokens = markdown.parse(withoutComments(text), {})
  const sections: { anchor: string; title: string; text: string }[] = []
  const used = new Map<string, number>()
  for (const [at, token] of tokens.entries()) {
    const inline = tokens[at + 1]
    if (token.type === 'heading_open' && inline) {
      const title = (inline.children ?? []).map(({ content }) => content).join('')
      const name = anchorOf(inline.content)
      const times = used.get(name) ?? 0
      used.set(name, times + 1)
      const anchor = times === 0 ? name : `${name}-${times}`
      token.attrSet('id', anchor)
      sections.push({ anchor, title, text: '' })
    } else if (token.type === 'inline' && tokens[at - 1]?.type !== 'heading_open') {
      const section = sections.at(-1)
      const words = (token.children ?? []).map(({ content }) => content).join('')
      if (section && section.text.length < LONGEST_TEXT) section.text += ` ${words}`.slice(0, LONGEST_TEXT)
    }
    for (const child of token.children ?? []) {
      for (const name of ['href', 'src']) {
        const target = child.attrGet(name)
        if (target !== null) child.attrSet(name, link(String(target)))
      }
    }
  }
  const html = markdown.renderer
    .render(tokens, markdown.options, {})
    .replaceAll('<table>', '<div class="wide"><table>')
    .replaceAll('</table>', '</table></div>')
  return { title: sections[0]?.title ?? 'Weir', html, sections }
}
