/** The website of the documents is complete, has no dead links, and works without a server. */
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sharedBrowser } from '../../tests/web/support/browser.ts'
import { addressOf, buildSite, root } from './site.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-site-'))
const read = (path: string) => readFileSync(join(folder, path), 'utf8')
let pages: string[]
beforeAll(() => {
  buildSite(folder)
  pages = globSync('**/*.html', { cwd: folder })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('has a page for every document', () => {
  const documents = globSync('docs/**/*.md', { cwd: root }).map((path) => addressOf(path.replaceAll('\\', '/')))
  expect(pages).toEqual(expect.arrayContaining(documents))
})

it('has links and pictures that all lead somewhere', () => {
  const ids = new Map(
    pages.map((page) => [page, new Set([...read(page).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  )
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/ (?:href|src)="([^"]*)"/g)].flatMap(([, link = '']) => {
      if (/^(https?|mailto):/.test(link)) return []
      const [path = '', anchor] = decodeURI(link).split('#')
      const target = path === '' ? page : join(dirname(page), path)
      const isThere = existsSync(join(folder, target)) && (!anchor || ids.get(target)?.has(anchor))
      return isThere ? [] : [`${page}: ${link}`]
    }),
  )
  expect(broken).toEqual([])
})

it('shows every document in its navigation, in the order of the guide', () => {
  const links = [...read('index.html').matchAll(/<li><a href="([^"]+)"/g)].map(([, link]) => link)
  const documents = globSync('docs/**/*.md', { cwd: root }).map((path) => addressOf(path.replaceAll('\\', '/')))
  expect(documents.filter((page) => page !== 'index.html' && !links.includes(page))).toEqual([])
  expect(links.slice(0, 3)).toEqual(['guide/1-install.html', 'guide/2-connect.html', 'guide/3-rules.html'])
})

it('is searched and read from files, without a server', async () => {
  const page = await (await sharedBrowser()).newPage()
  try {
    const complaints: string[] = []
    page.on('pageerror', ({ message }) => complaints.push(message))
    await page.goto(pathToFileURL(join(folder, 'guide/4-project.html')).href)
    await page.getByRole('searchbox').fill('encryption key')
    await page.locator('#found').getByRole('link', { name: 'The encryption key' }).first().click()
    await page.getByRole('heading', { name: 'The encryption key' }).waitFor()
    expect(page.url()).toContain('/operations.html#the-encryption-key')
    expect(complaints).toEqual([])
  } finally {
    await page.close()
  }
})

it('does not replace a folder that holds something else', () => {
  const other = join(folder, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'mine.txt'), 'mine')
  expect(() => buildSite(other)).toThrow(/holds other files/)
  expect(existsSync(join(other, 'mine.txt'))).toBe(true)
})
