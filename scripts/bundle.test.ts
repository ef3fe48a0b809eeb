import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import packageFile from '../package.json' with { type: 'json' }
import { bundle } from './bundle.ts'

const root = join(import.meta.dirname, '..')

const place = mkdtempSync(join(tmpdir(), 'weir-bundle-'))
const folder = join(place, 'dist/src')
const read = (file: string) => readFileSync(join(folder, file), 'utf8')
let sources: readonly string[]
beforeAll(async () => {
  sources = await bundle({ programs: ['src/main.ts'], folder, isStayingHere: false })
})
afterAll(() => rmSync(place, { recursive: true, force: true }))

it('makes a package of a hundred files, which runs anywhere and finds its threads', () => {
  expect(sources.filter((path) => path.includes('node_modules'))).toEqual([])
  const texts = new Map(readdirSync(folder).map((file) => [file, read(file)]))
  expect(texts.size).toBeLessThan(200)
  const started = [...texts.values()].flatMap((text) =>
    [...text.matchAll(/new URL\("([^"]+\.js)", import\.meta\.url\)/g)].map(([, file]) => file as string),
  )
  expect(started.sort()).toEqual([
    'api-heavy-worker.js',
    'plugins-index.js',
    'runner-delivery-worker.js',
    'runner-task-worker.js',
  ])
  for (const file of started) expect(texts.has(file), file).toBe(true)
  // That would be a path on the machine that made the bundle.
  for (const [file, text] of texts) expect(text.includes(root), file).toBe(false)

  writeFileSync(join(place, 'package.json'), JSON.stringify({ type: 'module' }))
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  const run = (...parameters: string[]) =>
    execFileSync(process.execPath, [join(folder, 'main.js'), ...parameters], { encoding: 'utf8' })
  expect(run('--version').trim()).toBe(packageFile.version)
  expect(run('metrics', '--help')).toContain('--project')
})

const IMPORT = /^(?:import|export)\b[^'"();]*["']([^"']+)["']/gm

/** Everything that Node loads before a file runs: files of Weir, and packages. */
function loadedBy(first: string) {
  const files = new Set([first])
  const packages = new Set<string>()
  for (const file of files) {
    for (const [, name = ''] of read(file).matchAll(IMPORT)) {
      if (name.startsWith('./')) files.add(name.slice(2))
      else if (!name.startsWith('node:')) packages.add(name)
    }
  }
  return { files, packages: [...packages].sort() }
}

const COMMAND = /^\s*"?([\w-]+)"?: async \(\) => \(await import\("\.\/([^"]+)"\)/gm
/** Packages that tables need. A server or a worker loads the rest when it has its database. */
const TABLES = ['commander', 'csv-parse', 'kysely', 'pg', 'pino', 're2js', 'zod']
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  up: [...TABLES, 'croner'],
  collect: [...TABLES, 'croner'],
  answer: [...TABLES, 'croner'],
  metrics: TABLES,
  config: [...TABLES, 'croner', 'yaml'],
  dashboards: ['commander', 'kysely'],
  audit: TABLES,
  database: TABLES,
  doctor: [...TABLES, 'croner'],
  import: [...TABLES, 'croner'],
  worker: [...TABLES, 'croner'],
  backup: TABLES,
  restore: TABLES,
  retention: TABLES,
  storage: [...TABLES, 'croner'],
  mcp: [...TABLES, 'croner'],
  secrets: TABLES,
  traffic: ['commander'],
  'new-source': TABLES.filter((name) => name !== 'pg'),
}

it('loads of each command only what it needs', () => {
  expect(loadedBy('main.js').packages).toEqual(['commander', 'pino'])
  const commands = [...read('main.js').matchAll(COMMAND)].map(
    ([, name, file]) => [name, loadedBy(file as string)] as const,
  )
  expect(Object.fromEntries(commands.map(([name, { packages }]) => [name, packages]))).toEqual(
    Object.fromEntries(Object.entries(PACKAGES).map(([name, packages]) => [name, [...packages].sort()])),
  )
  // Each of these files also marks a part of Weir: the server, assistants, the queue of workers, traces.
  const server = [...loadedBy('main.js').files, ...commands.flatMap(([, { files }]) => [...files])].filter((file) =>
    /src\/(?:api\/server|mcp\/server|runner\/workers\/task-queue|observe\/open-telemetry)\.ts/.test(read(file)),
  )
  expect(server).toEqual([])
})
