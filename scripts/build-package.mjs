/**
 * `npm pack` runs this first. It writes dist/: the server as JavaScript and the built web client. Node runs TypeScript directly,
 * but refuses to do so under node_modules, which is where an installed package lives.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { ensureWebBuilt } from './build-web.mjs'
import { ensureInstalled, node, root, run, step } from './install.mjs'

const dist = join(root, 'dist')

/** Threads are started by address; the compiler rewrites only imports. */
const ADDRESS = /(new URL\((['"])\.{1,2}\/[^'"]+)\.ts(\2,\s*import\.meta\.url\))/g

async function compile() {
  rmSync(dist, { recursive: true, force: true })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const code = await run(node, [tsc, '-p', join(root, 'tsconfig.package.json')])
  if (code !== 0) throw new Error(`the server could not be compiled (code ${code}); the messages are above.`)
  const scripts = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.js'))
  for (const path of scripts) rewriteAddresses(join(dist, path))
}

function rewriteAddresses(file) {
  const text = readFileSync(file, 'utf8')
  const rewritten = text.replaceAll(ADDRESS, '$1.js$3')
  for (const [, target] of rewritten.matchAll(/new URL\(['"](\.{1,2}\/[^'"]+\.[jt]s)['"]/g)) {
    if (existsSync(join(dirname(file), target))) continue
    throw new Error(
      `${relative(dist, file)} starts ${target}, which is not compiled: add its source to "files" in tsconfig.package.json.`,
    )
  }
  if (rewritten !== text) writeFileSync(file, rewritten)
}

try {
  await ensureInstalled({ development: true })
  await ensureWebBuilt()
  await step('compiling the server', compile)
  cpSync(join(root, 'web/dist'), join(dist, 'web/dist'), { recursive: true })
  rmSync(join(dist, 'web/dist/built-from'), { force: true })
} catch (error) {
  console.error(`weir: ${error.message}`)
  process.exitCode = 1
}
