/** Reads the options of a task and checks them before git uses them. */

import { UserError } from '../../errors.ts'
import { type TaskOptions, type TaskRun, taskConfig } from '../../plugin-kit/index.ts'
import { isSecretParameter } from '../../secrets/address-secrets.ts'

export interface GitTask extends TaskRun {
  readonly repoId: string
  /** The address without credentials. */
  readonly url: string
  /** The credentials that were in the address. */
  readonly urlCredentials: { readonly user: string; readonly password: string } | null
  readonly withStats: boolean
  readonly withFiles: boolean
  /** Endings, in lower case, of files that do not count. */
  readonly excluded: readonly string[]
  /** Commits before this moment are not stored. */
  readonly since: Date | null
  /** Fetch only commits that are younger than `since`. */
  readonly isShallow: boolean
}

export const GIT_OPTIONS: TaskOptions = {
  url: { kind: 'text', label: 'Where to clone from', isRequired: true, example: 'https://github.com/acme/web.git' },
  repoId: {
    kind: 'text',
    label: 'Id of the row in repos',
    isRequired: true,
    example: 'github:GithubRepo:1:1',
  },
  name: { kind: 'text', label: 'Name, for people' },
  fullName: { kind: 'text', label: 'Name with its owner, for people' },
  pluginName: { kind: 'text', label: 'Source whose connection has the token' },
  connectionId: { kind: 'number', label: 'That connection' },
  user: { kind: 'text', label: 'User, where there is no connection' },
  password: { kind: 'text', label: 'Password or token, where there is no connection' },
  privateKey: { kind: 'text', label: 'Key for an address of ssh' },
  passphrase: { kind: 'text', label: 'Opens that key' },
  proxy: { kind: 'text', label: 'Proxy' },
  skipCommitStat: { kind: 'flag', label: 'Do not count lines' },
  skipCommitFiles: { kind: 'flag', label: 'Do not store which files were changed' },
  excludeFileExtensions: { kind: 'list', label: 'Endings of files that do not count' },
  noShallowClone: { kind: 'flag', label: 'Fetch the whole history' },
}

const SCP_STYLE = /^[\w.-]+@[\w.-]+:(?!\/\/)[^\s]+$/

export function readOptions(run: TaskRun): GitTask {
  const { options, timeAfter = null } = run
  const config = taskConfig()
  const repoId = text(options, 'repoId')
  if (repoId === '') throw new UserError('gitextractor: the option repoId is missing: the id of the row in repos.')
  const withStats = !flag(options, 'skipCommitStat', config.skipCommitStat)
  return {
    ...run,
    repoId,
    ...readUrl(text(options, 'url'), config.gitAllowLocal),
    withStats,
    withFiles: withStats && !flag(options, 'skipCommitFiles', config.skipCommitFiles),
    excluded: endings(options.excludeFileExtensions),
    since: timeAfter,
    isShallow: timeAfter !== null && !flag(options, 'noShallowClone', false),
  }
}

/** Returns a text option, empty if it is absent. Numbers and lists are refused. */
export function text(options: TaskRun['options'], name: string): string {
  const value = options[name] ?? ''
  if (typeof value !== 'string') throw new UserError(`gitextractor: the option ${name} must be text.`)
  return value.trim()
}

function flag(options: TaskRun['options'], name: string, otherwise: boolean): boolean {
  const value = options[name] ?? otherwise
  if (typeof value !== 'boolean') throw new UserError(`gitextractor: the option ${name} must be true or false.`)
  return value
}

function endings(value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || value.some((each) => typeof each !== 'string')) {
    throw new UserError('gitextractor: the option excludeFileExtensions must be a list such as [".lock", ".snap"].')
  }
  return value.filter((each) => each !== '').map((each) => each.toLowerCase())
}

/** Refuses anything that git could take for an option, a command or a file of this machine. */
function readUrl(given: string, isLocalAllowed: boolean): Pick<GitTask, 'url' | 'urlCredentials'> {
  if (given === '') throw new UserError('gitextractor: the option url is missing: where to clone from.')
  const refused = () =>
    new UserError(
      'gitextractor: the option url must be https://host/path, http://host/path, ssh://user@host/path or user@host:path.',
    )
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is refused
  if (given.startsWith('-') || /[\x00-\x20\x7f]/.test(given)) throw refused()
  if (SCP_STYLE.test(given)) {
    if (/[:@]-/.test(given)) throw refused()
    return { url: given, urlCredentials: null }
  }
  if (isLocalAllowed && (given.startsWith('file:///') || given.startsWith('/'))) {
    return { url: given, urlCredentials: null }
  }
  const parsed = URL.canParse(given) ? new URL(given) : undefined
  if (!parsed || !['https:', 'http:', 'ssh:'].includes(parsed.protocol) || !/^[^-]/.test(parsed.hostname)) {
    throw refused()
  }
  // The user of ssh is part of the address, so it is kept.
  if (parsed.protocol === 'ssh:') {
    if (parsed.password !== '') throw refused()
    return { url: given, urlCredentials: null }
  }
  if ([...parsed.searchParams.keys()].some(isSecretParameter)) {
    throw new UserError(
      'gitextractor: the option url holds a token as a parameter: take it out, and give it as password.',
    )
  }
  const { username, password } = parsed
  parsed.username = ''
  parsed.password = ''
  const user = decodeURIComponent(username)
  // A token alone, as in https://token@host, is used as the password.
  const urlCredentials =
    username === '' ? null : { user: password ? user : 'git', password: decodeURIComponent(password) || user }
  return { url: parsed.href, urlCredentials }
}

export const isHttp = (url: string): boolean => /^https?:/.test(url)
