import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findUnusedExports } from './export-rules.ts'
import { findViolations } from './import-rules.ts'
import { findGuessedKin } from './kinship-rules.ts'
import { findUnsafeLookups } from './lookup-rules.ts'
import { findPluginNames } from './plugin-names.ts'
import { findFoldedSpreads } from './spread-rules.ts'

const root = dirname(import.meta.dirname)
const everything = ['src', 'web', 'tests', 'scripts', 'bench', 'demo']
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:tsx?|mjs)$/.test(path) && !/node_modules|^dist\//.test(path))
      .map((path) => join(folder, path)),
  )
  .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(root, path), 'utf8') }))

const files = everything.filter(({ path }) => /^(?:src|web)\//.test(path))

const violations = [
  ...[findViolations, findUnsafeLookups, findPluginNames, findGuessedKin].flatMap((find) => find(files)),
  ...[findUnusedExports, findFoldedSpreads].flatMap((find) => find(everything)),
]
for (const violation of violations) console.error(violation)
console.log(
  `rules of imports, exports, lookups, names and spreads: ${everything.length} files, ${violations.length} violations`,
)
process.exitCode = violations.length === 0 ? 0 : 1
