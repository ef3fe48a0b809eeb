import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findViolations } from './import-rules.ts'
import { findGuessedKin } from './kinship-rules.ts'
import { findUnsafeLookups } from './lookup-rules.ts'
import { findPluginNames } from './plugin-names.ts'

const root = dirname(import.meta.dirname)
const files = ['src', 'web']
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path) && !path.includes('node_modules'))
      .map((path) => join(folder, path)),
  )
  .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(root, path), 'utf8') }))

const violations = [findViolations, findUnsafeLookups, findPluginNames, findGuessedKin].flatMap((find) => find(files))
for (const violation of violations) console.error(violation)
console.log(`rules of imports, lookups, names and kin: ${files.length} files, ${violations.length} violations`)
process.exitCode = violations.length === 0 ? 0 : 1
