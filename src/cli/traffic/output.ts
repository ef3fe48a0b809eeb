import { readFileSync } from 'node:fs'
import { messageOf, RetryableError } from '../../errors.ts'
import { CredentialsRefused, TrafficError, type Trouble } from '../../traffic/model/finding.ts'

/** Documented in docs/traffic.md; pipelines depend on them. */
export const EXIT: Readonly<Record<Trouble, number>> = { invalid: 2, gate: 3, conflict: 4, timeout: 5 }
const REFUSED = 6

// A reader of only the first lines closes the pipe before the end; that is no failure of this command.
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

/** True also if refused credentials were waited out, as in a rollback, because waiting longer does not help. */
const isOfRefusal = (error: unknown): boolean =>
  error instanceof Error && (error instanceof CredentialsRefused || isOfRefusal(error.cause))

/** The exit code and the data for programs, for errors of traffic commands; all others are left to the main program. */
function endingOf(error: unknown): { readonly code: number; readonly data: object } | undefined {
  if (isOfRefusal(error)) return { code: REFUSED, data: { trouble: 'refused' } }
  if (error instanceof TrafficError) return { code: EXIT[error.trouble], data: error.data }
  // A cluster does not answer, or AWS is busy: nobody has to repair Weir for that.
  return error instanceof RetryableError ? { code: EXIT.timeout, data: { trouble: 'timeout' } } : undefined
}

/** Prints errors of traffic commands with all their lines. */
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
