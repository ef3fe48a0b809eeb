import { onTestFinished } from 'vitest'

/** Runs `tidy` when the test ends. Outside a test (for things that many tests share, or in another program) it runs when the process ends. */
export function atEnd(tidy: () => void): void {
  try {
    onTestFinished(tidy)
  } catch {
    process.once('exit', tidy)
  }
}
