import { flushCompileCache } from 'node:module'
import fc from 'fast-check'
import { afterAll } from 'vitest'

/** Generated tests are the same in every run, so that a red one is the change's fault; another seed searches elsewhere. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.FAST_CHECK_SEED ?? 20261115) })

// Node keeps what it compiled when a process ends by itself. Vitest ends ours.
afterAll(() => flushCompileCache())
