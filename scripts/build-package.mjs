/**
 * `npm pack` runs this first. It writes dist/: the server as JavaScript and the built web client; and dashboards/. Node runs TypeScript directly,
 * but refuses to do so under node_modules, which is where an installed package lives.
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureWebBuilt } from './build-web.mjs'
import { ensureInstalled, node, root, run, step } from './install.mjs'

const dist = join(root, 'dist')

async function bundleServer() {
  rmSync(dist, { recursive: true, force: true })
  const code = await run(node, [join(root, 'scripts/bundle-package.ts')])
  if (code !== 0) throw new Error(`the server could not be bundled (code ${code}); the messages are above.`)
}

async function writeTemplates() {
  const code = await run(node, [join(root, 'scripts/write-dashboards.ts')])
  if (code !== 0)
    throw new Error(`the templates for Grafana could not be written (code ${code}); the messages are above.`)
}

try {
  await ensureInstalled({ development: true })
  await ensureWebBuilt()
  await step('bundling the server', bundleServer)
  await step('writing the templates for Grafana', writeTemplates)
  cpSync(join(root, 'web/dist'), join(dist, 'web/dist'), { recursive: true })
  rmSync(join(dist, 'web/dist/built-from'), { force: true })
} catch (error) {
  console.error(`weir: ${error.message}`)
  process.exitCode = 1
}
