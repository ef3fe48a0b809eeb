/** The plugin that docs/add-a-plugin.md and docs/add-an-entity.md describe compiles, and passes its own tests. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { blockOf } from '../src/cli/new-source/document.ts'
import { copyRepository } from './support/repository-copy.ts'

const copy = copyRepository()
const [plugin, entity] = [copy.read('docs/add-a-plugin.md'), copy.read('docs/add-an-entity.md')]
const FOLDER = 'src/plugins/buildbox'
const FAKE = 'tests/fake-buildbox/fake-buildbox.ts'

const made = await copy.run('src/main.ts', 'new-source', 'buildbox')

function afterLine(file: string, line: string, more: string): void {
  const text = copy.read(file)
  expect(text.split(line).length, `times that ${line} stands in ${file}`).toBe(2)
  copy.write(
    file,
    text.replace(line, () => `${line}\n${more}`),
  )
}

/** Finds the line of code in `text` that begins with `start`. */
function lineOf(text: string, start: string): string {
  const line = text.split('\n').find((each) => each.startsWith(start))
  if (!line) throw new Error(`the documents have no line that begins with ${start}`)
  return line
}

const written = Object.fromEntries(['kit.ts', 'plugin.ts'].map((file) => [file, copy.read(`${FOLDER}/${file}`)]))
it('is written as the document has it', () => {
  expect(made).toMatchObject({ code: 0 })
  for (const [file, text] of Object.entries(written)) expect(text, file).toBe(blockOf(plugin, file))
})

copy.write(`${FOLDER}/rules.ts`, blockOf(plugin, 'rules.ts'))
copy.write(`${FOLDER}/entities/jobs.ts`, blockOf(entity, 'entities/jobs.ts'))
copy.write(
  `${FOLDER}/plugin.ts`,
  copy.read(`${FOLDER}/plugin.ts`).replace('[projectEntity, builds]', '[projectEntity, builds, jobs]'),
)
afterLine(`${FOLDER}/plugin.ts`, "import builds from './entities/builds.ts'", "import jobs from './entities/jobs.ts'")
afterLine(
  FAKE,
  "if (pathname === '/api/projects/7') return [200, project]",
  lineOf(entity, "if (pathname === '/api/builds/91/jobs')"),
)
afterLine(`${FOLDER}/buildbox.test.ts`, '  rows: {', lineOf(entity, 'cicd_tasks: ['))

it('compiles', async () => {
  expect(await copy.compile(FOLDER, FAKE)).toEqual({ code: 0, printed: '' })
})

await import(join(copy.folder, FOLDER, 'buildbox.test.ts'))
