/** npm run site [-- FOLDER]: the documents as a website of plain files, which also works without a server. */
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { navigationOf } from './navigation.ts'
import { renderDocument, type Section } from './render.ts'
import { pageOf } from './template.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))
const INDEX = 'docs/README.md'
const SEARCH_INDEX = 'search-index.js'
/** Documents beside docs/ to which the documents link. */
const OTHER_DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'bench/README.md',
  '{src,web,tests}/**/README.md',
]

const isDocument = (path: string) => path.endsWith('.md')
/** `docs/guide/1-install.md` → `guide/1-install.html`; files outside docs/ go into a separate folder. */
export function addressOf(path: string): string {
  if (path === INDEX) return 'index.html'
  const place = path.startsWith('docs/') ? path.slice('docs/'.length) : `repository/${path}`
  return isDocument(place) ? place.replace(/\.md$/, '.html') : place
}

export interface Found {
  readonly address: string
  readonly page: string
  readonly title: string
  readonly text: string
}

/** Everything in the folder is replaced, so it must be a site already, or empty. */
function empty(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder) : []
  if (names.length > 0 && !names.includes(SEARCH_INDEX)) {
    throw new Error(`${folder} holds other files: name a folder that is empty or does not exist.`)
  }
  rmSync(folder, { recursive: true, force: true })
}

export function buildSite(folder: string): number {
  empty(folder)
  const documents = globSync(['docs/**/*.md', ...OTHER_DOCUMENTS], {
    cwd: root,
    exclude: (path) => path.includes('node_modules'),
  }).map((path) => path.replaceAll('\\', '/'))
  const known = new Set(documents)
  const navigation = navigationOf(readFileSync(join(root, INDEX), 'utf8'))
  const files = new Set<string>()
  const found: Found[] = []
  const write = (address: string, text: string) => {
    const file = join(folder, address)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  for (const document of documents) {
    const address = addressOf(document)
    const to = (path: string) => posix.relative(posix.dirname(address), path) || posix.basename(path)
    const link = (target: string): string => {
      if (/^[a-z]+:|^#/.test(target)) return target
      const [path = '', anchor] = target.split('#')
      const place = posix.join(posix.dirname(document), path).replace(/\/$/, '')
      if (!known.has(place)) files.add(place)
      const isFolder = !known.has(place) && statSync(join(root, place)).isDirectory()
      return to(isFolder ? `${addressOf(place)}/index.html` : addressOf(place)) + (anchor ? `#${anchor}` : '')
    }
    const { title, html, sections } = renderDocument(readFileSync(join(root, document), 'utf8'), link)
    const places = navigation.map(({ title: group, pages }) => ({
      title: group,
      pages: pages.map(({ path, title: name }) => ({
        title: name,
        link: to(addressOf(posix.join('docs', path))),
        isCurrent: posix.join('docs', path) === document,
      })),
    }))
    write(address, pageOf({ title, html, places, home: to('index.html'), base: to('.').replace(/\/?$/, '/') }))
    found.push(...sections.map((section: Section) => ({ address, page: title, ...section })))
  }
  for (const path of files) copyLinked(folder, path)
  for (const name of ['site.css', 'search.js']) cpSync(join(import.meta.dirname, name), join(folder, name))
  write(SEARCH_INDEX, `window.searchIndex = ${JSON.stringify(found)}\n`)
  return documents.length
}

/** Copies a linked file or folder. A folder gets a page that lists its files. */
function copyLinked(folder: string, path: string): void {
  const target = join(folder, addressOf(path))
  cpSync(join(root, path), target, { recursive: true })
  if (!statSync(target).isDirectory()) return
  const names = readdirSync(target, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'))
  const list = names
    .filter((name) => statSync(join(target, name)).isFile())
    .map((name) => `<li><a href="${name}">${name}</a></li>`)
    .join('\n')
  const base = '../'.repeat(addressOf(path).split('/').length)
  const html = `<h1>${path}</h1><ul>${list}</ul>`
  writeFileSync(join(target, 'index.html'), pageOf({ title: path, html, places: [], home: `${base}index.html`, base }))
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? '.weir/site')
  try {
    console.log(`weir: ${buildSite(folder)} pages in ${folder}: open ${join(folder, 'index.html')}`)
  } catch (error) {
    console.error(`weir: ${(error as Error).message}`)
    process.exitCode = 1
  }
}
