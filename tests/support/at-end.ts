import { onTestFinished } from 'vitest'

/** Tidies up when the test is over; what many tests share, or a program outside of them, when the process is. */
export function atEnd(tidy: () => void): void {
  try {
    onTestFinished(tidy)
  } catch {
    process.once('exit', tidy)
  }
}
