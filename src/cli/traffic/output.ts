import { readFileSync } from 'node:fs'
import { messageOf, RetryableError } from '../../errors.ts'
import { CredentialsRefused, TrafficError, type Trouble } from '../../traffic/model/finding.ts'

/** Documented in docs/traffic.md; pipelines depend on them. */
export const EXIT: Readonly<Record<Trouble, number>> = { invalid: 2, gate: 3, conflict: 4, timeout: 5 }
const REFUSED = 6

// Whoever reads only the first lines closes the pipe; that is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  throw error
})

export const print = (text: string): void => void process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))
export const readText = (file: string): string => {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new TrafficError('invalid', `Cannot read ${file}: ${messageOf(error)}`)
  }
}

/** Also where refused credentials were waited out, as a rollback does: waiting longer does not mend them. */
const isOfRefusal = (error: unknown): boolean =>
  error instanceof Error && (error instanceof CredentialsRefused || isOfRefusal(error.cause))

/** What a program reads about trouble of ours, and its exit code; the rest is the main program's. */
function endingOf(error: unknown): { readonly code: number; readonly data: object } | undefined {
  if (isOfRefusal(error)) return { code: REFUSED, data: { trouble: 'refused' } }
  if (error instanceof TrafficError) return { code: EXIT[error.trouble], data: error.data }
  // A cluster that does not answer, or AWS that is busy: nobody has to mend Weir for it.
  return error instanceof RetryableError ? { code: EXIT.timeout, data: { trouble: 'timeout' } } : undefined
}

/** Trouble of ours keeps its lines. */
export const guarded =
  <Arguments extends unknown[]>(body: (...args: Arguments) => unknown) =>
  async (...args: Arguments): Promise<void> => {
    try {
      await body(...args)
    } catch (error) {
      const ending = endingOf(error)
      if (ending === undefined) throw error
      const message = messageOf(error)
      const isJson = args.some((each) => (each as { json?: unknown } | undefined)?.json === true)
      if (isJson) printJson({ error: message, ...ending.data })
      console.error(`weir: ${message}`)
      process.exitCode = ending.code
    }
  }
