import { defineConfig } from 'vitest/config'
import { isHelmAsked } from './tests/deploy/support/helm-program.ts'
import { LongestFirst } from './tests/support/longest-first.ts'

/**
 * They change what a process has once (settings that are read once, the commands, the clock that everything stamped goes
 * by), so they get a process of their own.
 */
const ALONE = [
  'src/plugin-kit/http/address-guard.test.ts',
  'tests/cli/printed-commands.test.ts',
  'src/plugin-kit/collect/source-clock.test.ts',
]
/** They move the clock forward, so they share a process with each other only. */
const MOVED = ['tests/convergence/**/*.test.ts']

/** What is the same for both, and for the extra checks; not taken over from below, which would start the servers once for each of them. */
export const SHARED = {
  setupFiles: ['tests/support/set-up-file.ts'],
  env: { TZ: 'UTC' },
  // Node reads the sources itself, as it does for users. It keeps what it compiled; Vite compiles for every file again.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // Node's own limit for young objects is so small that tests spend a tenth of their time on collecting them.
  execArgv: ['--max-semi-space-size=64'],
  // Real servers on a loaded machine: a limit is there to end what hangs, never to judge speed.
  testTimeout: 300_000,
  hookTimeout: 300_000,
}

export default defineConfig({
  test: {
    globalSetup: ['tests/support/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    // Five at a time left no core idle, and single tests ran into their limits.
    maxWorkers: 3,
    projects: [
      { test: { ...SHARED, name: 'alone', include: ALONE, isolate: true } },
      { test: { ...SHARED, name: 'moved', include: MOVED, isolate: false } },
      {
        test: {
          ...SHARED,
          name: 'together',
          include: [
            '{src,traffic,tests,scripts,bench}/**/*.test.ts',
            ...(isHelmAsked() ? ['tests/deploy/*.check.ts'] : []),
          ],
          exclude: [...ALONE, ...MOVED],
          // To load the server takes longer than most files: a process does it once and runs one file after another.
          isolate: false,
        },
      },
    ],
  },
})
