/** Runs the `git` program: output streamed, secrets by environment only, and the whole process group ended on abort. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { byName } from '../basics/by-name.ts'
import { UserError } from '../errors.ts'

export interface GitOptions {
  /** The repository; none for commands that need no repository. */
  readonly folder?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly input?: string
  /** Called for each piece of output; git is not read further before it is done. */
  readonly onOutput?: (piece: Buffer) => Promise<void> | void
  readonly onErrorText?: (text: string) => void
}

/** Git ended with a code; `output` is the end of its error output. */
export class GitError extends Error {
  override readonly name = 'GitError'
  readonly output: string
  constructor(command: string, code: number | string, output: string) {
    super(`git ${command} ended with ${code}: ${output.trim().slice(-2000)}`)
    this.output = output
  }
}

/** The part of the environment that git needs to reach servers. The rest holds secrets that it must not see. */
const INHERITED =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|SSH_AUTH_SOCK|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE|GIT_SSL_\w+|(https?|all|no)_proxy)$/i

const inherited = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => INHERITED.test(entry[0]) && !!entry[1]),
  )

/** Results must not depend on who runs the server, so only commands that talk to another host see the user's settings. */
export const LOCAL: Readonly<Record<string, string>> = byName({
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
})

/** Passes settings through the environment, which only the same user can read; `-c` would show in the list of processes. */
export const settings = (pairs: readonly (readonly [name: string, value: string])[]): Record<string, string> => ({
  GIT_CONFIG_COUNT: String(pairs.length),
  ...Object.fromEntries(
    pairs.flatMap(([name, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, name],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
})

const KEPT_ERROR_TEXT = 16_384

export async function git(parameters: readonly string[], options: GitOptions): Promise<void> {
  const { folder, environment = LOCAL, signal, input, onOutput, onErrorText } = options
  signal.throwIfAborted()
  const child = spawn('git', folder ? [`--git-dir=${folder}`, ...parameters] : parameters, {
    // A separate process group: git leaves the work to children, which must end with it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    // If git flushed after each commit, a long history would come in a hundred thousand pieces.
    env: { ...inherited(), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_FLUSH: '0', ...environment },
  })
  const end = () => {
    try {
      if (child.pid) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // Already gone.
    }
  }
  const closed = once(child, 'close')
  closed.catch(() => {})
  signal.addEventListener('abort', end, { once: true })
  let errorText = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorText = (errorText + text).slice(-KEPT_ERROR_TEXT)
    onErrorText?.(text)
  })
  // Git may end before it has read everything; its exit code tells.
  child.stdin.on('error', () => {}).end(input ?? '')
  try {
    for await (const piece of child.stdout) await onOutput?.(piece as Buffer)
    const [code, killedBy] = await closed
    signal.throwIfAborted()
    if (code !== 0) throw new GitError(parameters[0] ?? '', code ?? killedBy, errorText)
  } catch (error) {
    signal.throwIfAborted()
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new UserError('The program git is not installed: install git 2.31 or later on the machine that collects.')
    }
    throw error
  } finally {
    signal.removeEventListener('abort', end)
    end()
  }
}

/** Returns the whole output as text, for short answers. */
export async function gitText(parameters: readonly string[], options: GitOptions): Promise<string> {
  const pieces: Buffer[] = []
  await git(parameters, { ...options, onOutput: (piece) => void pieces.push(piece) })
  return Buffer.concat(pieces).toString()
}
