/** Links and paths in documents lead somewhere. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const documents = globSync(['*.md', 'docs/**/*.md', 'src/**/*.md', 'tests/**/*.md', 'web/**/*.md'], {
  cwd: root,
  exclude: (path) => path.includes('node_modules'),
})
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Makes anchors as GitHub does: small letters, without punctuation, a hyphen for each space. */
const anchorOf = (title: string) =>
  title
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
const anchorsOf = (path: string) =>
  [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, title]) => anchorOf(title as string))

const linksOf = (text: string) =>
  [...text.replaceAll(/^```.*?^```/gms, '').matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(
    ([, link]) => link as string,
  )
const pathsOf = (text: string) =>
  [...text.matchAll(/(?<![\w./-])(?:src|web|tests|scripts|demo|bench|docs)\/[\w./-]*\w\/?/g)].map(([path]) => path)

/** Names that represent a file of the reader. */
const OWN = /buildbox|deskbox|acme-(ci|desk)|NAME/

describe.each(documents)('%s', (document) => {
  it('has links that lead to a file and a heading', () => {
    for (const link of linksOf(read(document))) {
      const [file = '', anchor] = link.split('#')
      const path = file === '' ? document : join(dirname(document), file)
      expect(existsSync(join(root, path)), `${document}: ${link}`).toBe(true)
      if (anchor) expect(anchorsOf(path), `${document}: ${link}`).toContain(anchor)
    }
  })

  it('names files and folders that exist', () => {
    const missing = pathsOf(read(document)).filter((path) => !OWN.test(path) && !existsSync(join(root, path)))
    expect(missing).toEqual([])
  })
})
