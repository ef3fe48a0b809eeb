/** A process that works as a task of the runner does, so that its memory is that of the work alone. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import launched from '../../scripts/launch.json' with { type: 'json' }

/** The heap of a thread that runs tasks; its young generation is three times the first. */
export const LIKE_A_TASK = ['--max-semi-space-size=16', '--max-old-space-size=1024']
/** What the launcher sets. */
export const LAUNCHED = launched.environment

/** What a collection may hold at its peak, however much it collects. */
export const MOST_MEGABYTES = 300

/** Runs a module, and gives the last line that it prints, parsed. */
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
