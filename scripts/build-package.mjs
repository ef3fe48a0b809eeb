/**
 * `npm pack` runs this first. It writes dist/: the server as JavaScript and the built web client; and dashboards/. Node runs TypeScript directly,
 * but refuses to do so under node_modules, which is where an installed package lives.
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureWebBuilt } from './build-web.mjs'
import { ensureInstalled, node, root, run, step } from './install.mjs'

const dist = join(root, 'dist')

async function runScript(name, failure) {
  const code = await run(node, [join(root, 'scripts', name)])
  if (code !== 0) throw new Error(`${failure} (code ${code}); the messages are above.`)
}

try {
  await ensureInstalled({ development: true })
  await ensureWebBuilt()
  rmSync(dist, { recursive: true, force: true })
  await step('bundling the server', () => runScript('bundle-package.ts', 'the server could not be bundled'))
  await step('writing the templates for Grafana', () =>
    runScript('write-dashboards.ts', 'the templates for Grafana could not be written'),
  )
  cpSync(join(root, 'web/dist'), join(dist, 'web/dist'), { recursive: true })
  rmSync(join(dist, 'web/dist/built-from'), { force: true })
} catch (error) {
  console.error(`weir: ${error.message}`)
  process.exitCode = 1
}
