/** The plugin that docs/add-a-plugin.md and docs/add-an-entity.md build compiles, and passes its own tests. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const place = join(root, 'src/plugins/buildbox')
const folder = mkdtempSync(join(tmpdir(), 'buildbox-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (name: string) => readFileSync(join(root, 'docs', name), 'utf8')
const [plugin, entity] = [read('add-a-plugin.md'), read('add-an-entity.md')]

/** The first block after the heading that names the file, or after the words that do. */
function blockOf(text: string, name: string): string {
  const line = text
    .split('\n')
    .find((each) => (each.startsWith('#') && each.endsWith(name)) || each.endsWith(`\`${name}\`:`))
  const [, block] = /^```\w+\n(.*?)^```/ms.exec(text.slice(text.indexOf(`${line}\n`))) ?? []
  if (!line || !block) throw new Error(`the documents have no block for ${name}`)
  return block
}

function afterLine(text: string, line: string, more: string): string {
  expect(text.split(line).length, `times that ${line} stands in the documents`).toBe(2)
  return text.replace(line, () => `${line}\n${more}`)
}

/** Of the code in `text`, the line that begins like this. */
function lineOf(text: string, start: string): string {
  const line = text.split('\n').find((each) => each.startsWith(start))
  if (!line) throw new Error(`the documents have no line that begins with ${start}`)
  return line
}

const files = {
  'kit.ts': blockOf(plugin, 'kit.ts'),
  'entities/projects.ts': blockOf(plugin, 'entities/projects.ts'),
  'entities/builds.ts': blockOf(plugin, 'entities/builds.ts'),
  'entities/jobs.ts': blockOf(entity, 'entities/jobs.ts'),
  'plugin.ts': afterLine(
    blockOf(plugin, ' plugin.ts').replace('[projectEntity, builds]', '[projectEntity, builds, jobs]'),
    "import builds from './entities/builds.ts'",
    "import jobs from './entities/jobs.ts'",
  ),
  'buildbox.test.ts': afterLine(
    afterLine(
      blockOf(plugin, 'buildbox.test.ts'),
      "if (pathname === '/api/projects/7') return project",
      lineOf(entity, "if (pathname === '/api/builds/91/jobs')"),
    ),
    '  rows: {',
    lineOf(entity, 'cicd_tasks: ['),
  ),
  'fixtures/unfinished.json': blockOf(plugin, 'fixtures/unfinished.json'),
  'rules.ts': blockOf(plugin, 'rules.ts'),
}

/** What lies outside of the plugin's folder is found from everywhere. */
const withPaths = (file: string, text: string) =>
  text.replaceAll(/from '(\.\.[^']*)'/g, (all, path: string) => {
    const target = join(place, dirname(file), path)
    return relative(place, target).startsWith('..') ? `from '${target}'` : all
  })

for (const [file, text] of Object.entries(files)) {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), withPaths(file, text))
}

it('compiles', async () => {
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
    include: [folder, join(root, 'tests/support/global-setup.ts')],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch((error) => error)
  expect(stdout).toBe('')
})

await import(join(folder, 'buildbox.test.ts'))
