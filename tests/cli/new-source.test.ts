/** `weir new-source` in a copy of the repository: the files that it writes compile, are formatted, follow the rules, and collect. */
import { globSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EXAMPLES } from '../../src/cli/new-source/document.ts'
import { newFiles } from '../../src/cli/new-source/files.ts'
import { sourceNames } from '../../src/cli/new-source/names.ts'
import { withPlugin } from '../../src/cli/new-source/register.ts'
import { plugins } from '../../src/plugins/index.ts'
import { copyRepository } from '../support/repository-copy.ts'

const copy = copyRepository()
for (const place of ['src/plugins/old', 'tests/fake-workflows-of']) mkdirSync(join(copy.folder, place))
copy.write('tests/fake-workflows-of/fake-workflows-of.ts', '')
const filesOf = () => globSync(['src/plugins/**', 'tests/fake-*/**'], { cwd: copy.folder }).sort()
const before = filesOf()
const index = copy.read('src/plugins/index.ts')
const made = await copy.run('src/main.ts', 'new-source', 'acme_ci', '--title', 'Acme CI')

const WRITTEN = [
  'src/plugins/acme-ci/acme-ci.test.ts',
  'src/plugins/acme-ci/entities/builds.ts',
  'src/plugins/acme-ci/entities/projects.ts',
  'src/plugins/acme-ci/fixtures/unfinished.json',
  'src/plugins/acme-ci/kit.ts',
  'src/plugins/acme-ci/plugin.ts',
  'tests/fake-acme-ci/fake-acme-ci.ts',
]

describe('what is written', () => {
  it('is told, with what to do next', () => {
    expect(made).toMatchObject({ code: 0, printed: expect.stringContaining('npx vitest run src/plugins/acme-ci') })
    for (const path of WRITTEN) expect(made.printed).toContain(path)
  })

  it('is one folder, the fake, and two lines of the list of plugins', () => {
    const isFile = (path: string) => /\.\w+$/.test(path)
    expect(filesOf().filter((path) => isFile(path) && !before.includes(path))).toEqual(WRITTEN)
    const lines = index.split('\n')
    const added = copy
      .read('src/plugins/index.ts')
      .split('\n')
      .filter((line) => !lines.includes(line))
    expect(added).toEqual(["import { acmeCi } from './acme-ci/plugin.ts'", '  acmeCi,'])
  })

  it('no longer names the example', () => {
    for (const path of WRITTEN) expect(copy.read(path), path).not.toMatch(/buildbox/i)
  })

  it('compiles', async () => {
    const compiled = await copy.compile('src/plugins/acme-ci', 'src/plugins/index.ts', 'tests/fake-acme-ci')
    expect(compiled).toEqual({ code: 0, printed: '' })
  })

  it('is formatted', async () => {
    const checked = await copy.run(
      'node_modules/@biomejs/biome/bin/biome',
      'check',
      'src/plugins/acme-ci',
      'src/plugins/index.ts',
      'tests/fake-acme-ci',
    )
    expect(checked).toMatchObject({ code: 0 })
  })

  it('keeps to the rules of imports and names', async () => {
    expect(await copy.run('scripts/check-rules.ts')).toMatchObject({
      code: 0,
      printed: expect.stringContaining(' 0 violations'),
    })
  })
})

describe('a name that cannot be used', () => {
  const places = () => ({ files: filesOf(), index: copy.read('src/plugins/index.ts') })
  it.each([
    ['jira', 'There is a plugin jira already: choose another name'],
    ['azuredevops', '"azuredevops" has another meaning in src/plugins/index.ts'],
    ['builds', '"builds" has another meaning in docs/add-a-plugin.md'],
    ['oidc', '"oidc" has another meaning in src/'],
    ['workflows_of', 'tests/fake-workflows-of/fake-workflows-of.ts exists already: remove it, or choose another name'],
    ['old', 'src/plugins/old exists already: remove it'],
    ['class', '"class" is a word of TypeScript: choose another name, such as class_tool'],
    ['Acme', '"Acme" cannot be the name of a source: use small letters and digits'],
    ['../jira', 'cannot be the name of a source'],
    ['a__b', 'cannot be the name of a source'],
    ['a'.repeat(31), 'cannot be the name of a source'],
    ['', 'cannot be the name of a source'],
  ])('is refused with a sentence: %j', (name, says) => {
    expect(() => newFiles(copy.folder, sourceNames(name), plugins, EXAMPLES.builds)).toThrow(says)
  })

  it.each(["it's", '`x`', '$x', ' ', 'a\nb', 'x'.repeat(61)])('and so is the title %j', (title) => {
    expect(() => sourceNames('other', title)).toThrow('The title cannot be used')
  })

  it('changes nothing', async () => {
    const old = places()
    const answer = await copy.run('src/main.ts', 'new-source', 'acme_ci')
    expect(answer).toEqual({
      code: 1,
      printed: 'weir: There is a plugin acme_ci already: choose another name, or change src/plugins/index.ts first.\n',
    })
    expect(places()).toEqual(old)
  })
})

it('is in the order of names, wherever it stands', () => {
  const text = copy.read('src/plugins/index.ts')
  for (const [name, before, after] of [
    ['aaa', 'acme-ci', undefined],
    ['bitbucket_mirror', 'bitbucket-server', 'bitbucket'],
    ['zzz', undefined, 'webhook'],
  ] as const) {
    const names = sourceNames(name)
    const lines = withPlugin(text, names).split('\n')
    const place = lines.indexOf(`import { ${names.variable} } from './${names.folder}/plugin.ts'`)
    if (before) expect(lines[place + 1]).toContain(`'./${before}/`)
    if (after) expect(lines[place - 1]).toContain(`'./${after}/`)
    expect(lines).toContain(`  ${names.variable},`)
  }
})

// Run the tests that it wrote: the first rows, on each engine.
await import(join(copy.folder, 'src/plugins/acme-ci/acme-ci.test.ts'))
