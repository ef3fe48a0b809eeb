/** `weir new-source --kind tickets` in a copy of the repository: the files that it writes compile, are formatted, follow the rules, and collect. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { copyRepository } from '../support/repository-copy.ts'

const copy = copyRepository()
const FOLDER = 'src/plugins/acme-desk'
const FAKE = 'tests/fake-acme-desk/fake-acme-desk.ts'
const made = await copy.run('src/main.ts', 'new-source', 'acme_desk', '--kind', 'tickets')

it('says what it wrote, and which page explains it', () => {
  expect(made).toMatchObject({ code: 0, printed: expect.stringContaining('docs/add-a-ticket-source.md') })
  const files = ['kit.ts', 'rules.ts', 'entities/tickets.ts', 'fixtures/without-people.json', 'acme-desk.test.ts']
  for (const path of [...files.map((file) => `${FOLDER}/${file}`), FAKE]) {
    expect(made.printed).toContain(path)
    expect(copy.read(path), path).not.toMatch(/deskbox/i)
  }
})

it('compiles', async () => {
  expect(await copy.compile(FOLDER, 'src/plugins/index.ts', FAKE)).toEqual({ code: 0, printed: '' })
})

it('is formatted', async () => {
  const checked = await copy.run('node_modules/@biomejs/biome/bin/biome', 'check', FOLDER, FAKE)
  expect(checked).toMatchObject({ code: 0 })
})

it('keeps to the rules of imports and names', async () => {
  expect(await copy.run('scripts/check-rules.ts')).toMatchObject({
    code: 0,
    printed: expect.stringContaining(' 0 violations'),
  })
})

it('refuses a kind that there is not', async () => {
  expect(await copy.run('src/main.ts', 'new-source', 'other', '--kind', 'weather')).toMatchObject({
    code: 1,
    printed: expect.stringMatching(/weather.*builds, tickets/s),
  })
})

// Run the tests that it wrote: the first rows, on each engine.
await import(join(copy.folder, FOLDER, 'acme-desk.test.ts'))
