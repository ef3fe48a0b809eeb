import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureInstalled, isPackage, node, root } from './install.mjs'
import { completeInstalledPackage } from './installed-package.mjs'

/**
 * Settings that keep the server's memory small. Young objects get half the usual room: the server answers as fast and needs a
 * third less memory. By default, glibc keeps the room of large buffers that are gone, in an arena for every thread.
 */
const { flags, environment } = JSON.parse(readFileSync(new URL('./launch.json', import.meta.url), 'utf8'))

const MAIN = 'src/main.ts'
const COMPILED_MAIN = 'dist/src/main.js'

/** Runs a TypeScript file on the project's Node as if it were this process, with the same terminal, signals and exit code. */
export async function launch(file, parameters, { development = false, prepare = async () => {} } = {}) {
  let program = node
  try {
    await ensureInstalled({ development })
    if (isPackage) program = await completeInstalledPackage()
    else await prepare()
  } catch (error) {
    console.error(`weir: ${error.message}`)
    process.exit(1)
  }
  const path = join(root, isPackage && file === MAIN ? COMPILED_MAIN : file)
  const child = spawn(program, [...(file === MAIN ? flags : []), path, ...parameters], {
    env: {
      // Halves the time that loading takes from the second start on.
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
      ...environment,
      ...process.env,
    },
    // The channel tells the child when this process is gone, even if it was killed.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // npm sends SIGTERM to a shell between npm and this process, which dies of it and tells nobody.
  if (process.env.npm_lifecycle_event) {
    const parent = process.ppid
    setInterval(() => process.ppid !== parent && child.connected && child.disconnect(), 250).unref()
  }
  child.once('error', (error) => {
    console.error(`weir: ${error.message}`)
    process.exit(1)
  })
  child.once('exit', (code, signal) => process.exit(signal ? 1 : code))
}
