/** A command that runs until it is stopped, as a person starts one in a shell. */
import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'

export interface RunningCommand {
  readonly ready: Promise<void>
  printed(): string
  /** Stops the command and all processes that it started. */
  stop(): Promise<void>
}

export function startCommand(
  [program, ...parameters]: readonly [string, ...string[]],
  options: Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'>,
  isReady: RegExp,
): RunningCommand {
  const child = spawn(program, parameters, { ...options, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  const ready = new Promise<void>((done, failed) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text
      if (isReady.test(printed)) done()
    })
    child.once('error', failed)
    child.once('exit', () => failed(new Error(`${program} ended: ${printed}`)))
  })
  return {
    ready,
    printed: () => printed,
    async stop() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      process.kill(-child.pid, 'SIGTERM')
      await ended
    },
  }
}
