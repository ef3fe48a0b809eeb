import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts'],
    globalSetup: ['tests/support/global-setup.ts'],
    setupFiles: ['tests/support/set-up-file.ts'],
    env: { TZ: 'UTC' },
    // Node reads the sources itself, as it does for users. It keeps what it compiled; Vite compiles for every file again.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Tests wait for servers and processes more than they compute.
    maxWorkers: 3,
    // Real servers on a loaded machine: a limit is there to end what hangs, never to judge speed.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
