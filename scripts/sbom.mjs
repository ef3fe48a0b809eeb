/**
 * Prints the parts of an installed Weir as CycloneDX: the packages of package-lock.json, without development tools and packages
 * of other workspaces. `npm run sbom traffic` prints those of what is added for traffic switching. npm lists them, but correctly only for a package that has nothing else, so such a package is made.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './install.mjs'

const readJson = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'))

function npm(cwd, ...parameters) {
  const options = { cwd, encoding: 'utf8', maxBuffer: 64 << 20, shell: process.platform === 'win32' }
  const { status, stdout, stderr } = spawnSync('npm', [...parameters, '--loglevel=error'], options)
  if (status !== 0) throw new Error(`npm ${parameters.join(' ')} ended with code ${status}: ${stderr}`)
  return stdout
}

const [workspace = '.'] = process.argv.slice(2)
const { name, version, description, license, dependencies } = readJson(join(workspace, 'package.json'))
const { workspaces } = readJson('package.json')
const lock = readJson('package-lock.json')
const onlyOwn = { name, version, license, dependencies }
lock.packages = Object.fromEntries(
  Object.entries({ ...lock.packages, '': onlyOwn }).filter(([path, { link }]) => !workspaces.includes(path) && !link),
)

const folder = mkdtempSync(join(tmpdir(), 'weir-sbom-'))
try {
  // npm names the whole after the folder.
  const place = join(folder, name)
  mkdirSync(place)
  writeFileSync(join(place, 'package.json'), JSON.stringify({ ...onlyOwn, description }))
  writeFileSync(join(place, 'package-lock.json'), JSON.stringify(lock))
  npm(place, 'install', '--package-lock-only', '--ignore-scripts', '--offline', '--no-audit', '--no-fund')
  console.log(npm(place, 'sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'))
} catch (error) {
  console.error(`weir: ${error.message}`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
