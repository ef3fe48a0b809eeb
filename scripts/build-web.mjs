import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { node, root, run, step } from './install.mjs'

const web = join(root, 'web')
const stamp = join(web, 'dist/built-from')

/** A hash of everything that goes into the build. Times are enough: a file that only looks changed costs a build of a few seconds. */
function sources() {
  const files = readdirSync(web, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(join(web, 'dist')))
    .map((entry) => join(entry.parentPath, entry.name))
  const hash = createHash('sha256')
  for (const file of [...files, join(root, 'package-lock.json')].sort()) {
    const { mtimeMs, size } = statSync(file)
    hash.update(`${file} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex')
}

/** Builds the web client, unless the last build is from the present sources. */
export async function ensureWebBuilt() {
  const wanted = sources()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  await step('building the web client', async () => {
    const vite = join(root, 'node_modules/vite/bin/vite.js')
    const code = await run(node, [vite, 'build', '--logLevel', 'warn', '--config', join(web, 'vite.config.ts')])
    if (code !== 0) throw new Error(`the web client could not be built (code ${code}); the messages are above.`)
    writeFileSync(stamp, wanted)
  })
}
