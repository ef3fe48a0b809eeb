/** Makes the programs that tests start. */
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { bundle } from '../../scripts/bundle.ts'
import { BUNDLES, PROGRAMS, root, sourcesOfPrograms, wantedFolder } from './programs.ts'

/** Longer than a run of all tests. */
const UNUSED_MS = 3 * 60 * 60 * 1000

const folder = wantedFolder()
const unfinished = `${folder}.${process.pid}`
const inside = await bundle({ programs: PROGRAMS, folder: unfinished, isStayingHere: true })
const known = new Set(sourcesOfPrograms())
const unknown = inside
  .map((path) => relative(root, path))
  .filter((path) => !path.startsWith('\0') && !path.split(sep).includes('node_modules') && !known.has(path))
if (unknown.length > 0) throw new Error(`a change of these files would go unseen: ${unknown.join(', ')}`)
if (wantedFolder() !== folder) throw new Error('a source has changed meanwhile: start the tests again.')
writeFileSync(join(unfinished, 'package.json'), '{ "type": "module" }')
try {
  renameSync(unfinished, folder)
} catch {
  // Another process made the bundle in the meantime.
  rmSync(unfinished, { recursive: true })
}

for (const name of readdirSync(BUNDLES)) {
  const path = join(BUNDLES, name)
  const { mtimeMs = Date.now() } = statSync(path, { throwIfNoEntry: false }) ?? {}
  if (Date.now() - mtimeMs > UNUSED_MS) rmSync(path, { recursive: true, force: true })
}
