import { once } from 'node:events'
import launched from '../../scripts/launch.json' with { type: 'json' }
import { startProgram } from './programs.ts'

export interface Cli {
  readonly pid: number
  output(): string
  errors(): string
  /** The first match in the output, as soon as it appears. Throws when the process ends without one. */
  saw(pattern: RegExp): Promise<RegExpExecArray>
  kill(signal: NodeJS.Signals): void
  /** The exit code, or the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals>
}

/** Runs the real command line in its own process, as the launcher does. Its environment has only the given variables. */
export function startCli(parameters: readonly string[], environment: Record<string, string>): Cli {
  const child = startProgram('src/main.ts', parameters, {
    flags: launched.flags,
    env: { PATH: process.env.PATH, ...launched.environment, ...environment },
    // Over this channel the child notices that this process has ended, even if it was killed.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const { stdout, stderr } = child
  let output = ''
  let errors = ''
  stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const ended = once(child, 'close').then(([code, signal]) => signal ?? code)
  return {
    pid: child.pid ?? 0,
    output: () => output,
    errors: () => errors,
    saw: async (pattern) => {
      for (;;) {
        const match = pattern.exec(output)
        if (match) return match
        const next = await Promise.race([once(stdout, 'data'), ended.then(() => 'ended' as const)])
        if (next === 'ended' && !pattern.test(output)) throw new Error(`ended without ${pattern}: ${output}${errors}`)
      }
    },
    kill: (signal) => child.kill(signal),
    ended,
  }
}

/** Runs a short command to its end and returns its exit code and everything that it printed. */
export async function runCli(parameters: readonly string[], environment: Record<string, string>) {
  const cli = startCli(parameters, environment)
  const code = await cli.ended
  return { code, output: cli.output(), errors: cli.errors() }
}
