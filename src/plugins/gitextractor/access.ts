/** Gives git access to a repository: chooses the credentials, and the environment that passes them on without showing them. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { byName } from '../../basics/by-name.ts'
import { UserError } from '../../errors.ts'
import { settings } from '../../git/git.ts'
import { connectionSettings, credentialsOf, type Plugin, taskConfig } from '../../plugin-kit/index.ts'
import { addressSecrets, serverOf } from '../../secrets/address-secrets.ts'
import { type GitTask, isHttp, text } from './options.ts'
import { openRoute } from './route.ts'

export interface Access {
  /** The address to fetch from: that of the task, after redirects. */
  readonly url: string
  readonly environment: Readonly<Record<string, string>>
  /** Texts that must not appear anywhere. */
  readonly secrets: readonly string[]
  /** Removes the files that hold keys. */
  close(): Promise<void>
}

interface Login {
  readonly user: string
  readonly password: string
}

/** Ends a transfer that has not moved for this long. */
const STALLED_SECONDS = 120

/** `folder` is for files that hold keys. The next run that opens the folder removes what a killed run left there. */
export async function openAccess(task: GitTask, plugins: readonly Plugin[], folder: string): Promise<Access> {
  const connection = await connectionOf(task, plugins)
  const ownProxy = text(task.options, 'proxy')
  if (ownProxy && !/^(https?|socks5h?):\/\/./.test(ownProxy)) {
    throw new UserError('gitextractor: the option proxy must be an address such as http://host:3128.')
  }
  const explicit = explicitLogin(task)
  if (!explicit && connection.login) requireSameProxy(ownProxy, connection.proxy)
  const proxy = ownProxy || connection.proxy
  const login = (isHttp(task.url) && (explicit ?? connection.login ?? task.urlCredentials)) || null
  // Sent without waiting for a challenge: without credentials, some servers answer with a page for signing in instead of a refusal.
  const basic = login && Buffer.from(`${login.user}:${login.password}`).toString('base64')
  const headers = basic ? { authorization: `Basic ${basic}` } : {}
  const route = await openRoute({ url: task.url, proxy, headers, signal: task.signal })
  const { gitAllowLocal, trustsAnyCertificate } = taskConfig()
  const pairs: [string, string][] = [
    // Credential helpers of the user who runs the server would ask for input, or store the credentials.
    ['credential.helper', ''],
    ['http.lowSpeedLimit', '1'],
    ['http.lowSpeedTime', String(STALLED_SECONDS)],
    ['gc.autoDetach', 'false'],
    ['maintenance.autoDetach', 'false'],
    ['fetch.recurseSubmodules', 'false'],
    ...route.pairs,
  ]
  if (trustsAnyCertificate) pairs.push(['http.sslVerify', 'false'])
  if (proxy) pairs.push(['http.proxy', proxy])
  if (basic) pairs.push([`http.${new URL(route.url).origin}/.extraHeader`, `Authorization: Basic ${basic}`])
  const key = isHttp(task.url) ? null : await keyFiles(task, folder, route.ssh)
  return {
    url: route.url,
    environment: {
      ...settings(pairs),
      GIT_ALLOW_PROTOCOL: gitAllowLocal ? 'https:http:ssh:file' : 'https:http:ssh',
      ...key?.environment,
    },
    secrets: [...addressSecrets(proxy), ...(login ? [login.password, basic ?? ''] : []), ...(key?.secrets ?? [])],
    close: async () => {
      await key?.close()
    },
  }
}

/** Refuses another proxy than that of the connection. A proxy sees all traffic, so it decides where the token of a connection may go. */
function requireSameProxy(given: string, own: string): void {
  if (given === '' || serverOf(given) === serverOf(own)) return
  throw new UserError(
    'gitextractor: the option proxy is not the proxy of the connection, so its token is not sent there. Leave proxy out, or give user and password.',
  )
}

function explicitLogin({ options }: GitTask): Login | null {
  const password = text(options, 'password')
  return password === '' ? null : { user: text(options, 'user') || 'git', password }
}

/** Returns the login of the source's connection, with a token that is still valid, and its proxy. */
async function connectionOf(
  task: GitTask,
  plugins: readonly Plugin[],
): Promise<{ login: Login | null; proxy: string }> {
  const pluginName = text(task.options, 'pluginName')
  const connectionId = Number(task.options.connectionId ?? 0)
  const source = plugins.find(({ name }) => name === pluginName)?.source
  if (!source || connectionId === 0) return { login: null, proxy: '' }
  const stored = await connectionSettings(source, connectionId, task)
  const proxy = String(stored.proxy ?? '')
  if (!isHttp(task.url)) return { login: null, proxy }
  const user = source.connection.cloneUser?.(stored) ?? stored.username
  const login = user && stored.password ? { user, password: stored.password } : null
  const [first] = credentialsOf(source, stored)
  const token = typeof first === 'object' ? (await first.refresh()).value : first?.trim()
  if (!login && !token) return { login: null, proxy }
  const endpoint = String(stored.endpoint || source.connection.endpoint)
  if (!mayHaveToken(task.url, endpoint, source.title)) return { login: null, proxy }
  return { login: login ?? { user: 'git', password: token as string }, proxy }
}

/**
 * People who may write a plan must not be able to send a stored token to a server of their choice. A server on another port of
 * this machine, as in a demo, is accessed without the token.
 */
function mayHaveToken(url: string, endpoint: string, title: string): boolean {
  const [to, own] = [new URL(url), new URL(endpoint)]
  // The API of a vendor may have another host name than its repositories: api.github.com.
  if (to.origin === own.origin || `${to.protocol}//api.${to.host}` === own.origin) return true
  const isOtherPort = to.protocol === own.protocol && to.hostname === own.hostname
  if (isOtherPort && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(to.hostname)) return false
  throw new UserError(
    `gitextractor: the url is on ${to.origin}, but the ${title} connection belongs to ${own.origin}, so its token is not sent there. Correct the url, or leave connectionId out and give user and password.`,
  )
}

const quoted = (path: string) => `'${path.replaceAll("'", `'\\''`)}'`

async function keyFiles({ options }: GitTask, parent: string, route: readonly string[]): Promise<Omit<Access, 'url'>> {
  const privateKey = text(options, 'privateKey')
  const passphrase = text(options, 'passphrase')
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(parent, 'key-'))
  const ssh = [
    'ssh',
    '-o StrictHostKeyChecking=accept-new',
    `-o UserKnownHostsFile=${quoted(join(parent, '..', 'known_hosts'))}`,
    '-o ConnectTimeout=30 -o ServerAliveInterval=30 -o ServerAliveCountMax=4',
    ...route,
  ]
  const environment: Record<string, string> = byName()
  if (privateKey !== '') {
    await writeFile(join(folder, 'key'), `${privateKey}\n`, { mode: 0o600 })
    ssh.push(`-i ${quoted(join(folder, 'key'))} -o IdentitiesOnly=yes`)
  }
  if (passphrase === '') ssh.push('-o BatchMode=yes')
  else {
    const answer = join(folder, 'answer')
    await writeFile(answer, '#!/bin/sh\nprintf "%s\\n" "$WEIR_PASSPHRASE"\n', { mode: 0o700 })
    Object.assign(environment, {
      SSH_ASKPASS: answer,
      SSH_ASKPASS_REQUIRE: 'force',
      DISPLAY: 'none',
      WEIR_PASSPHRASE: passphrase,
    })
    ssh.push('-o NumberOfPasswordPrompts=1')
  }
  return {
    environment: { ...environment, GIT_SSH_COMMAND: ssh.join(' ') },
    secrets: [passphrase, privateKey].filter(Boolean),
    close: () => rm(folder, { recursive: true, force: true }),
  }
}
