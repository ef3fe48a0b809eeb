/** Explains what the errors of git mean to the reader. */
import { FatalError, RetryableError, UserError } from '../errors.ts'
import { GitError } from './git.ts'

/** The clone on disk is damaged or incomplete, and is made again. */
export class BrokenClone extends Error {
  override readonly name = 'BrokenClone'
}

interface Meaning {
  readonly says: RegExp
  readonly error: (url: string, said: string) => Error
}

const lastLine = (said: string) =>
  said
    .trim()
    .split('\n')
    .findLast((line) => /^(fatal|error|ssh|remote):/.test(line)) ??
  said.trim().split('\n').at(-1) ??
  ''

const user =
  (message: (url: string) => string, status = 400) =>
  (url: string, said: string) =>
    new UserError(`${message(url)} (git: ${lastLine(said)})`, { status })

const LOCAL_MEANINGS: readonly Meaning[] = [
  {
    says: /No space left on device|Disk quota exceeded/,
    error: user(() => 'The disk of the data folder is full: make room there or set DATA_FOLDER to another disk.', 500),
  },
  {
    says: /unknown option|unrecognized argument|unknown value for --diff-merges|usage: git/,
    error: (_url, said) => new FatalError(`The installed git is too old: 2.31 or later is needed. (${lastLine(said)})`),
  },
]

const MEANINGS: readonly Meaning[] = [
  ...LOCAL_MEANINGS,
  {
    says: /could not resolve proxy|HTTP code 407 from proxy|Failed to connect to .{1,300} via proxy/i,
    error: user((url) => `The proxy on the way to ${url} cannot be used: check the proxy setting.`),
  },
  {
    says: /could not resolve host|name or service not known|temporary failure in name resolution/i,
    error: user((url) => `The host of ${url} is unknown: check the address and this machine's name server.`),
  },
  {
    says: /returned error: 429|Connection (refused|timed out|reset)|Failed to connect|Could not connect|Operation too slow|RPC failed|early EOF|hung up unexpectedly|returned error: 5\d\d|unexpected disconnect|Recv failure|Empty reply/i,
    error: (url, said) =>
      new RetryableError(`${url} cannot be reached, or the connection broke. (git: ${lastLine(said)})`),
  },
  {
    says: /returned error: 404|repository .{0,300}not found|does not appear to be a git repository|repository .{0,300}does not exist|returned error: 410/i,
    error: user(
      (url) => `There is no repository ${url}: it was deleted or renamed, or the credentials may not see it.`,
      404,
    ),
  },
  {
    says: /Authentication failed|could not read (Username|Password)|returned error: 40[13]|Permission denied|access denied|incorrect passphrase|bad passphrase|error in libcrypto|invalid format/i,
    error: user((url) => `${url} refused the credentials: check that they are valid and may read the repository.`),
  },
  { says: /Host key verification failed/, error: user((url) => `The host key of ${url} has changed or is unknown.`) },
  {
    says: /SSL certificate|certificate verify failed|unable to get local issuer/i,
    error: user((url) => `The certificate of ${url} is not trusted: add its issuer to this machine's certificates.`),
  },
  {
    says: /is this a git repository\?|not valid: could not determine hash algorithm/,
    error: user((url) => `${url} answers, but not as a git repository: check the address.`),
  },
  {
    says: /mismatched algorithms/,
    error: user((url) => `${url} names its objects by SHA-256, which is not supported.`),
  },
  {
    says: /transport '.{0,100}' not allowed/,
    error: user((url) => `${url}: only https, http and ssh are allowed.`),
  },
]

const BROKEN =
  /bad object|bad tree|bad revision|(missing|unable to read|could not parse|invalid|corrupt) (blob|tree|commit|object|loose)|object file .{1,300} is empty|did not send all necessary objects|packfile|pack has|index file|not a git repository|unable to (read|find|parse|open)|inflate|bad config|reference broken|does not point to a valid object|shallow file|unable to normalize alternate/i

/** `url` has no credentials; `secrets` are removed from git's output. */
export function explainFetch(error: unknown, url: string, secrets: readonly string[]): unknown {
  if (!(error instanceof GitError)) return error
  const said = scrub(error.output, secrets)
  const meaning = MEANINGS.find(({ says }) => says.test(said))
  if (meaning) return meaning.error(url, said)
  return BROKEN.test(said) ? new BrokenClone(lastLine(said)) : new FatalError(scrub(error.message, secrets))
}

/** For commands that stay on this machine: an error that is not understood is blamed on the clone, which can be made again. */
export function explainReading(error: unknown): unknown {
  if (!(error instanceof GitError)) return error
  const meaning = LOCAL_MEANINGS.find(({ says }) => says.test(error.output))
  return meaning?.error('', error.output) ?? new BrokenClone(lastLine(error.output))
}

export const scrub = (text: string, secrets: readonly string[]): string =>
  secrets
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .filter((secret) => secret !== '')
    .reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text)
    .replace(/(?<=:\/\/)[^\s/@]+@/g, '')
