/** Starts a process that works like a task of the runner, so that its memory is that of the work alone. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import launched from '../../scripts/launch.json' with { type: 'json' }

/** The heap limits of a thread that runs tasks. Its young generation is three times the semi-space size. */
export const LIKE_A_TASK = ['--max-semi-space-size=16', '--max-old-space-size=1024']
/** The environment that the launcher sets. */
export const LAUNCHED = launched.environment

/** The most memory that a collection may hold at its peak, however much it collects. */
export const MOST_MEGABYTES = 300

/** Runs a module, and returns the parsed JSON of the last line that it prints. */
export async function runLikeATask<Report>(
  file: string,
  parameters: readonly string[],
  environment: Record<string, string> = {},
): Promise<Report> {
  const running = promisify(execFile)(process.execPath, [...LIKE_A_TASK, file, ...parameters], {
    env: { ...process.env, ...LAUNCHED, ...environment },
  })
  running.child.stderr?.pipe(process.stderr)
  const { stdout } = await running
  return JSON.parse(stdout.trim().split('\n').at(-1) as string)
}
