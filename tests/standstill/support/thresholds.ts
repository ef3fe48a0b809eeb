/** Thresholds for tests: minutes become seconds. */
import type { Thresholds } from '../../../src/runner/standstill/thresholds.ts'

export const QUICK = {
  lookMs: 200,
  afterMs: 1500,
  silentMs: 3000,
  slowStatementMs: 120,
  noAnswerMs: 4000,
} satisfies Partial<Thresholds>
