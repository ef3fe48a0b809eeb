/** Runs on the machine's own Node (20 or later) and needs nothing else, because it installs everything else. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** An installed package holds JavaScript only; a clone holds the sources. */
export const isPackage = !existsSync(join(root, 'src/main.ts'))

const nodeIn = (folder) => join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

/** The Node that the project installs. npm may place it beside an installed package. */
export const node = nodeIn(isPackage ? nodeFolder() : join(root, 'node_modules/node'))

function nodeFolder() {
  try {
    return dirname(createRequire(import.meta.url).resolve('node/package.json'))
  } catch {
    return join(root, 'node_modules/node')
  }
}

export const say = (line) => console.log(`weir: ${line}`)

/**
 * Installs what package-lock.json lists, unless it is there; `development` adds the tools of the tests. If these are already
 * there they stay, because whoever works on Weir starts it as well.
 */
export async function ensureInstalled({ development: isWanted }) {
  const development = isWanted || existsSync(join(root, 'node_modules/vitest'))
  if (isPackage || isInstalled(development)) return
  await oneAtATime(async () => {
    if (isInstalled(development)) return
    // Not `npm ci`: it empties node_modules, from which a server may be running, and it refuses a lock file that lacks
    // the optional binaries of platforms that a mirror does not carry. Versions are those of the lock file all the same.
    const kinds = development ? ['--include=dev'] : ['--omit=dev']
    const options = [
      '--no-save',
      '--include=optional',
      '--ignore-scripts=false',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ]
    await step('installing packages', () => npm(['install', ...kinds, ...options]))
    if (!isInstalled(development)) {
      throw new Error(
        'packages are still missing after the install: remove the folder node_modules and run this command again.',
      )
    }
  })
}

/** npm keeps a lock file of what is really installed; an interrupted install leaves none. */
function isInstalled(development) {
  if (!existsSync(node)) return false
  try {
    const packagesOf = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).packages
    const present = packagesOf('node_modules/.package-lock.json')
    return Object.entries(packagesOf('package-lock.json')).every(
      ([path, wanted]) =>
        path === '' ||
        (wanted.dev && !development) ||
        wanted.optional ||
        wanted.devOptional ||
        present[path]?.version === wanted.version,
    )
  } catch {
    return false
  }
}

async function npm(parameters) {
  // npm passes its own path to the scripts that it runs.
  const self = process.env.npm_execpath
  const [command, first] = self ? [process.execPath, [self]] : ['npm', []]
  const code = await run(command, [...first, ...parameters])
  if (code !== 0) throw new Error(`npm ${parameters[0]} ended with code ${code}; its messages are above.`)
}

/** Reports every few seconds that a long step continues. */
export async function step(name, body) {
  const start = Date.now()
  const seconds = () => `${Math.round((Date.now() - start) / 1000)} s`
  say(`${name} …`)
  const heartbeat = setInterval(() => say(`${name} … ${seconds()}`), 15_000)
  try {
    await body()
    say(`${name}: done in ${seconds()}`)
  } finally {
    clearInterval(heartbeat)
  }
}

export function run(command, parameters, environment = process.env, cwd = root) {
  return new Promise((done, fail) => {
    const child = spawn(command, parameters, { cwd, env: environment, stdio: ['ignore', 'inherit', 'inherit'] })
    const pass = () => child.kill('SIGTERM')
    process.on('SIGTERM', pass)
    child.once('error', fail)
    child.once('exit', (code, signal) => {
      process.off('SIGTERM', pass)
      done(signal ? 1 : code)
    })
  })
}

/** `npm start` and `npm test` may be typed at the same moment. */
async function oneAtATime(body) {
  const lock = join(root, '.weir-install.lock')
  for (let waited = false; !take(lock); waited = true) {
    if (!waited) say('waiting for another install to end')
    await sleep(500)
  }
  try {
    await body()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function take(lock) {
  try {
    mkdirSync(lock)
    writeFileSync(join(lock, 'pid'), String(process.pid))
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  try {
    process.kill(Number(readFileSync(join(lock, 'pid'), 'utf8')), 0)
  } catch (error) {
    // The process that made the lock was killed. A lock without a pid has only just been made.
    if (error.code === 'ESRCH') rmSync(lock, { recursive: true, force: true })
  }
  return false
}
