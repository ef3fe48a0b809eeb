import { once } from 'node:events'
import launched from '../../scripts/launch.json' with { type: 'json' }
import { startProgram } from './programs.ts'

export interface Cli {
  readonly pid: number
  output(): string
  errors(): string
  /** The first match in the output, as soon as it is there; throws when the process ends without. */
  saw(pattern: RegExp): Promise<RegExpExecArray>
  kill(signal: NodeJS.Signals): void
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

/** Runs the real command line as the launcher does, in a process of its own, with only the environment that is given. */
export function startCli(parameters: readonly string[], environment: Record<string, string>): Cli {
  const child = startProgram('src/main.ts', parameters, {
    flags: launched.flags,
    env: { PATH: process.env.PATH, ...launched.environment, ...environment },
    // The channel tells it when this process is gone, even if it was killed.
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

/** The whole of a short run. */
export async function runCli(parameters: readonly string[], environment: Record<string, string>) {
  const cli = startCli(parameters, environment)
  const code = await cli.ended
  return { code, output: cli.output(), errors: cli.errors() }
}
