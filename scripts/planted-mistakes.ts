/**
 * Plants mistakes that authors of plugins make, one by one, into the plugin of docs/add-a-plugin.md, and sees that each is found:
 * by the compiler, by `definePlugin`, or by the suite of tests that the kit brings. A mistake that goes through is printed, and the
 * exit code is 1. node scripts/planted-mistakes.ts [REVISION]
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { blockOf, EXAMPLES, exampleFiles } from '../src/cli/new-source/document.ts'
import { copyOfRevision } from './copy-of-revision.ts'

interface Mistake {
  readonly name: string
  readonly file: string
  readonly instead: string
  readonly put: string
}

const of = (file: string, mistakes: readonly (readonly [name: string, instead: string, put: string])[]): Mistake[] =>
  mistakes.map(([name, instead, put]) => ({ name, file, instead, put }))

const MISTAKES: readonly Mistake[] = [
  ...of('kit.ts', [
    ['the kit has another name', "pluginKit('buildbox')", "pluginKit('bildbox')"],
    ['no table has the scope column', "scopeColumn: 'project_id'", "scopeColumn: 'projekt_id'"],
    ['the scope has no such key', "scopeKey: 'id'", "scopeKey: 'idd'"],
    ['another column counts as the key of the scope', "scopeKey: 'id'", "scopeKey: 'scope_config_id'"],
    ['the parameter of a page is misspelt', 'pageNumber({ size: 50 })', "pageNumber({ size: 50, pageParam: 'p' })"],
    ['pages are larger than the tool gives', 'pageNumber({ size: 50 })', 'pageNumber({ size: 500 })'],
    ['a status of success is misspelt', "SUCCESS: ['passed']", "SUCCESS: ['pased']"],
    ['a status is missing among those that are done', "DONE: ['passed', ", 'DONE: ['],
  ]),
  ...of('entities/projects.ts', [
    ['the scope is converted without where', '    where: ({ id }) => ({ id }),\n', ''],
    ['the path of the scope is misspelt', 'api/projects/${scope.id}', 'api/project/${scope.id}'],
    ['the raw table is misspelt', "raw: 'buildbox_api_projects'", "raw: 'bildbox_api_projects'"],
    [
      'the id of the scope is made from its name',
      'idOf(projects, project.id)',
      'idOf(projects, project.name as never)',
    ],
    ['a column of the scope has another value', 'name: project.name', 'name: project.url'],
  ]),
  ...of('entities/builds.ts', [
    ['a path is misspelt', "'workflow.name'", "'workflow.title'"],
    ['a field has another name', 'branch: string()', "branch: string('branch_name')"],
    ['the table has no key', 'id: key(bigint())', 'id: bigint()'],
    ['the raw table is that of another entity', "raw: 'buildbox_api_builds'", "raw: 'buildbox_api_jobs'"],
    ['no filter is sent', '({ updated_since: since.toISOString() })', '(since ? {} : {})'],
    ['the filter is misspelt', 'updated_since: since', 'updated_after: since'],
    [
      'a time is read in another zone',
      'finished_at: timestamp()',
      "finished_at: timestamp(({ finished_at }) => finished_at?.replace('Z', '+02:00'))",
    ],
    ['a duration has another unit', ') / 1000 : 0', ') : 0'],
    ['the scope column holds the id of the record', 'bigint((_build, { scope }) => scope.id)', "bigint('id')"],
    ['a row refers to a scope by the id of a build', 'idOf(projects, scope.id)', 'idOf(builds, build.id)'],
    ['a domain table is not declared', 'to: [cicdPipelines, cicdPipelineCommits]', 'to: [cicdPipelines]'],
    ['a date comes from another column', 'finished_date: build.finished_at', 'finished_date: build.started_at'],
    ['the result comes from another column', 'result: classify(build.status', 'result: classify(build.name'],
    ['a commit belongs to no build', 'pipeline_id: id,', 'pipeline_id: idOf(projects, build.id),'],
  ]),
  ...of('entities/jobs.ts', [
    ['a child table has no scope column', '  project_id: bigint((_job, { scope }) => scope.id),\n', ''],
    [
      'the scope column of a child table holds its parent',
      '(_job, { scope }) => scope.id',
      '(_job, { input }) => input.id',
    ],
    ['the column of change is misspelt', "changedBy: 'changed_date'", "changedBy: 'change_date'"],
    ['the parent is missing', '(_job, { input }) => input.id', '(_job, { input }) => input.build'],
    ['the path of a child is misspelt', 'api/builds/${input.id}/jobs', 'api/builds/${input.id}/job'],
    ['a child refers to its parent by its own id', 'idOf(builds, job.build_id)', 'idOf(builds, job.id)'],
    ['"nothing here" is taken for a failure', '    emptyOn: [404],\n', ''],
  ]),
  ...of('plugin.ts', [
    ['an option names no column', "{ projectId: 'id' }", "{ projectId: 'project_id' }"],
    ['two scopes have the same marker', ', ProjectId: id })', ', ProjectId: Number(id) * 0 })'],
    ['an entity is left out', '[projectEntity, builds, jobs]', '[projectEntity, builds]'],
    ['the connection is tested by another path', "test: { path: 'api/me' }", "test: { path: 'api/user' }"],
    ['a rule has another name than its reader knows', 'deploymentPattern: {', 'deployPattern: {'],
    ['scopes are listed by name', 'id: String(id),', 'id: name,'],
    [
      'the request for the scope is misspelt',
      'check: ({ id }) => ({ path: `api/projects/',
      'check: ({ id }) => ({ path: `api/project/',
    ],
  ]),
]

const { document, folder: home } = EXAMPLES.builds
const ENTITY = 'docs/add-an-entity.md'

/** The plugin of both documents: path → text. */
function exampleOf(folder: string): Map<string, string> {
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')
  const files = exampleFiles(read(document), EXAMPLES.builds)
  const put = (path: string, instead: string, text: string) =>
    files.set(path, replaced(path, files.get(path) ?? '', instead, text))
  const line = (start: string) =>
    read(ENTITY)
      .split('\n')
      .find((each) => each.startsWith(start)) as string
  files.set(`${home}/entities/jobs.ts`, blockOf(read(ENTITY), 'entities/jobs.ts'))
  put(`${home}/plugin.ts`, '[projectEntity, builds]', '[projectEntity, builds, jobs]')
  put(
    `${home}/plugin.ts`,
    "from './entities/builds.ts'\n",
    "from './entities/builds.ts'\nimport jobs from './entities/jobs.ts'\n",
  )
  put(
    'tests/fake-buildbox/fake-buildbox.ts',
    '  return NOT_FOUND\n',
    `  ${line("if (pathname === '/api/builds/91/jobs')")}\n  return NOT_FOUND\n`,
  )
  put(`${home}/buildbox.test.ts`, '  rows: {\n', `  rows: {\n    ${line('cicd_tasks: [')}\n`)
  return files
}

function replaced(path: string, text: string, instead: string, put: string): string {
  if (text.split(instead).length !== 2) throw new Error(`${path} has not exactly one place with: ${instead}`)
  return text.replace(instead, () => put)
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

const RIGHT = 'without-mistake'
const folderOf = (index: number) => `mistake-${String(index + 1).padStart(2, '0')}`

/** Writes the plugin once as it is, and once for each mistake. */
function plant(folder: string): void {
  const files = exampleOf(folder)
  for (const [index, { file, instead, put }] of [{ file: '', instead: '', put: '' }, ...MISTAKES].entries()) {
    const own = index === 0 ? RIGHT : folderOf(index - 1)
    for (const [path, text] of files) {
      const name = path.startsWith(`${home}/`) ? path.slice(home.length + 1) : undefined
      if (name === undefined) write(folder, path, text)
      else write(folder, `src/plugins/${own}/${name}`, name === file ? replaced(path, text, instead, put) : text)
    }
  }
}

interface Finding {
  readonly by: 'types' | 'definePlugin' | 'the suite'
  readonly words: string
}
type Findings = Map<string, Finding>
const ofPlugin = (path: string) => /src\/plugins\/((?:mistake|without)-\w+)\//.exec(path)?.[1]
const firstLine = (text: string) =>
  text
    .trim()
    .replace(/^\w*Error: /, '')
    .split('\n')[0] ?? ''

function findByTypes(folder: string, found: Findings): void {
  write(
    folder,
    'tsconfig.mistakes.json',
    JSON.stringify({
      extends: './tsconfig.json',
      include: ['src/plugins/mistake-*/**/*.ts', 'src/plugins/without-*/**/*.ts'],
    }),
  )
  const tsc = join(folder, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.mistakes.json'], {
    cwd: folder,
    encoding: 'utf8',
  })
  for (const line of stdout.split('\n')) {
    const plugin = ofPlugin(line)
    if (plugin && !found.has(plugin)) found.set(plugin, { by: 'types', words: line.slice(line.indexOf('error')) })
  }
}

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly { readonly status: string; readonly failureMessages: readonly string[] }[]
  }[]
}

/** On one database: no mistake of an author depends on the engine. */
function findByTests(folder: string, found: Findings): void {
  const names = [RIGHT, ...MISTAKES.map((_, index) => folderOf(index))].filter((name) => !found.has(name))
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs')
  const output = join(folder, 'mistakes.json')
  const files = names.map((name) => `src/plugins/${name}/`)
  const options = ['--reporter=json', `--outputFile=${output}`, '--testTimeout=60000', '--hookTimeout=60000']
  const env = { ...process.env, DATABASES: 'postgres' }
  spawnSync(process.execPath, [vitest, 'run', ...files, ...options], { cwd: folder, stdio: 'ignore', env })
  const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as Report
  if (testResults.length < names.length)
    throw new Error(`only ${testResults.length} of ${names.length} plugins were tested`)
  for (const { name, status, message, assertionResults } of testResults) {
    const plugin = ofPlugin(name)
    if (!plugin || status === 'passed') continue
    const failed = assertionResults.flatMap(({ failureMessages }) => failureMessages)
    if (assertionResults.length === 0) found.set(plugin, { by: 'definePlugin', words: firstLine(message) })
    else found.set(plugin, { by: 'the suite', words: firstLine(failed[0] ?? message) })
  }
}

const [revision = 'HEAD'] = process.argv.slice(2)
const folder = copyOfRevision(revision)
try {
  plant(folder)
  const found: Findings = new Map()
  findByTypes(folder, found)
  findByTests(folder, found)
  const wrong = found.get(RIGHT)
  // Tests that fail without a mistake prove nothing.
  if (wrong) throw new Error(`the plugin of the documents itself fails: ${wrong.words}`)
  for (const [index, { name, file }] of MISTAKES.entries()) {
    const finding = found.get(folderOf(index))
    console.log(
      finding ? `found by ${finding.by}: ${name} (${file})\n    ${finding.words}` : `NOT FOUND: ${name} (${file})`,
    )
    if (!finding) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
