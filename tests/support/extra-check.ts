/** Starts tests that need programs which not every machine has. They have their own command, which says why it skips them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Reports a skipped check and returns the exit code. With CI=true, skipping counts as a failure. */
export function skip(what: string, reason: string): number {
  console.log(`skipped: ${what} cannot be had here (${reason})`)
  return process.env.CI === 'true' ? 1 : 0
}

/** Runs the `*.check.ts` files of a folder, as the vitest.config.ts of the folder chooses them. */
export async function runChecks(folder: string, environment: Readonly<Record<string, string>> = {}): Promise<number> {
  const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs')
  const parameters = ['run', '--config', join(folder, 'vitest.config.ts'), ...process.argv.slice(2)]
  const run = spawn(process.execPath, [vitest, ...parameters], {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  })
  const [code] = await once(run, 'close')
  return code ?? 1
}
