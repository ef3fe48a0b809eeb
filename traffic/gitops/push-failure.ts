import {
  BrokenClone,
  explainFetch,
  FatalError,
  GitError,
  messageOf,
  RetryableError,
  scrub,
  UserError,
} from '../core.ts'

/** The server refuses this push, however often it is repeated. */
export class PushRefused extends UserError {}

const MOVED = /\[rejected\]|cannot lock ref|failed to update ref|incorrect old value|reference already exists/i
const REFUSED =
  /\[remote rejected\]|pre-receive hook declined|protected branch|not allowed to push|returned error: 403|Write access to repository not granted|deploy key|read[- ]only/i

/** Messages about a name server, a network or a server that is away for a while, from whichever program git uses. */
const AWAY =
  /could not resolve host|name resolution|name or service not known|no route to host|network is unreachable|connection (?:closed|reset|refused|timed out)|kex_exchange_identification|non-properly terminated|SSL_ERROR_SYSCALL|gnutls_handshake|broken pipe/i

const lineOf = (said: string, pattern: RegExp): string =>
  said
    .split('\n')
    .find((line) => pattern.test(line))
    ?.trim() ?? ''

/** Explains git's output: it says who has to do what. */
export function explainFailure(error: unknown, what: string, url: string): unknown {
  if ((error as Error).name === 'TimeoutError')
    return new RetryableError(`Cannot ${what} of ${url}: the server does not answer.`)
  if (!(error instanceof GitError)) return error
  const said = scrub(error.output, [])
  if (what.startsWith('push') && MOVED.test(said))
    return new RetryableError(
      `Cannot ${what} of ${url}: it has moved meanwhile. (git: ${lineOf(said, MOVED)}) It is read again.`,
    )
  if (what.startsWith('push') && REFUSED.test(said))
    return new PushRefused(
      `${url} refused to ${what}. (git: ${lineOf(said, /remote: .*\w/) || lineOf(said, REFUSED)}) Allow the push, or let people merge with gitops.merge: wait.`,
      { status: 502, cause: error },
    )
  if (AWAY.test(said))
    return new RetryableError(`Cannot ${what} of ${url}: it cannot be reached. (git: ${lineOf(said, AWAY)})`)
  const meaning = explainFetch(error, url, [])
  // The copy on disk can be made again, and nothing more is known about a server that answers like this.
  if (meaning instanceof BrokenClone || meaning instanceof FatalError)
    return new UserError(`Cannot ${what} of ${url}: ${messageOf(meaning)}`, { status: 502, cause: error })
  return meaning
}
