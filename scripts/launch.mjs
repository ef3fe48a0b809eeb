import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ensureInstalled, node, root } from './install.mjs'

/** Runs a TypeScript file on the project's Node, as if it were this process: same terminal, signals and exit code. */
export async function launch(file, parameters, { development = false, prepare = async () => {} } = {}) {
  try {
    await ensureInstalled({ development })
    await prepare()
  } catch (error) {
    console.error(`weir: ${error.message}`)
    process.exit(1)
  }
  const child = spawn(node, [join(root, file), ...parameters], {
    env: {
      // Halves the time that loading takes from the second start on.
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
      // Left to itself, glibc keeps the room of large buffers that are gone: a sixth of the memory of a collection.
      MALLOC_MMAP_THRESHOLD_: String(1 << 17),
      ...process.env,
    },
    // The channel tells the child when this process is gone, even if it was killed.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // npm passes SIGTERM to a shell between us, which dies of it and tells nobody.
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
