import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findUnusedExports } from './export-rules.ts'
import { findViolations } from './import-rules.ts'
import { findGuessedKin } from './kinship-rules.ts'
import { findUnsafeLookups } from './lookup-rules.ts'
import { findPluginNames } from './plugin-names.ts'
import { findFoldedSpreads } from './spread-rules.ts'
import { findDialect } from './word-rules.ts'

const root = dirname(import.meta.dirname)
const read = (path: string) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(root, path), 'utf8') })
const files = ['src', 'traffic', 'web', 'tests', 'scripts', 'bench', 'demo']
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:tsx?|mjs)$/.test(path) && !/node_modules|^dist\//.test(path))
      .map((path) => join(folder, path)),
  )
  .map(read)
const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
  .concat(
    readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md'))
      .map((path) => join('docs', path)),
  )
  // Copies of the repository in which tests change the sources have no README.
  .filter((path) => existsSync(join(root, path)))
  .map(read)

const violations = [
  findViolations,
  findUnsafeLookups,
  findPluginNames,
  findGuessedKin,
  findUnusedExports,
  findFoldedSpreads,
]
  .flatMap((find) => find(files))
  .concat(findDialect([...files, ...documents]))
for (const violation of violations) console.error(violation)
console.log(
  `rules of imports, exports, lookups, names, families, spreads and words: ${files.length} files, ${violations.length} violations`,
)
process.exitCode = violations.length === 0 ? 0 : 1
