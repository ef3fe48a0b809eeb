import { readFileSync } from 'node:fs'
import { messageOf } from '../../errors.ts'
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
const isOfRefusal = (error: unknown): error is Error =>
  error instanceof Error && (error instanceof CredentialsRefused || isOfRefusal(error.cause))

/** Trouble of ours keeps its lines and gets its own exit code; the rest is the main program's. */
export const guarded =
  <Arguments extends unknown[]>(body: (...args: Arguments) => unknown) =>
  async (...args: Arguments): Promise<void> => {
    try {
      await body(...args)
    } catch (error) {
      const isRefused = isOfRefusal(error)
      if (!isRefused && !(error instanceof TrafficError)) throw error
      const isJson = args.some((each) => (each as { json?: unknown } | undefined)?.json === true)
      if (isJson)
        printJson({ error: error.message, ...(isRefused ? { trouble: 'refused' } : (error as TrafficError).data) })
      console.error(`weir: ${error.message}`)
      process.exitCode = isRefused ? REFUSED : EXIT[(error as TrafficError).trouble]
    }
  }
