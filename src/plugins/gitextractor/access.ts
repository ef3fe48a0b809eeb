/** How git gets in: which credentials, and the environment that hands them over without showing them. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../../errors.ts'
import { connectionSettings, credentialsOf } from '../../plugin-kit/connection.ts'
import type { Plugin } from '../../plugin-kit/subtask.ts'
import { taskConfig } from '../../plugin-kit/task-config.ts'
import { settings } from './git.ts'
import { type GitTask, isHttp, text } from './options.ts'

export interface Access {
  readonly environment: Readonly<Record<string, string>>
  /** What must not appear anywhere. */
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

/** `folder` is for files that hold keys; whoever opens the folder next removes what a killed run left there. */
export async function openAccess(task: GitTask, plugins: readonly Plugin[], folder: string): Promise<Access> {
  const connection = await connectionOf(task, plugins)
  const proxy = text(task.options, 'proxy') || connection.proxy
  const login = explicitLogin(task) ?? connection.login ?? task.urlCredentials
  const { gitAllowLocal, trustsAnyCertificate } = taskConfig()
  const pairs: [string, string][] = [
    // Helpers of the user who runs the server would ask, or remember.
    ['credential.helper', ''],
    ['http.lowSpeedLimit', '1'],
    ['http.lowSpeedTime', String(STALLED_SECONDS)],
    ['gc.autoDetach', 'false'],
    ['maintenance.autoDetach', 'false'],
    ['fetch.recurseSubmodules', 'false'],
  ]
  if (trustsAnyCertificate) pairs.push(['http.sslVerify', 'false'])
  if (proxy) pairs.push(['http.proxy', proxy])
  const secrets: string[] = proxy ? [new URL(proxy).password].filter(Boolean) : []
  if (login && isHttp(task.url)) {
    // Sent unasked: some servers answer strangers with a page to sign in on instead of a refusal.
    const basic = Buffer.from(`${login.user}:${login.password}`).toString('base64')
    pairs.push([`http.${new URL(task.url).origin}/.extraHeader`, `Authorization: Basic ${basic}`])
    secrets.push(login.password, basic)
  }
  const key = isHttp(task.url) ? null : await keyFiles(task, folder)
  return {
    environment: {
      ...settings(pairs),
      GIT_ALLOW_PROTOCOL: gitAllowLocal ? 'https:http:ssh:file' : 'https:http:ssh',
      ...key?.environment,
    },
    secrets: [...secrets, ...(key?.secrets ?? [])],
    close: async () => {
      await key?.close()
    },
  }
}

function explicitLogin({ options }: GitTask): Login | null {
  const password = text(options, 'password')
  return password === '' ? null : { user: text(options, 'user') || 'git', password }
}

/** What the connection of the source knows: a token that is still valid, and a proxy. */
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
  const login = stored.username && stored.password ? { user: stored.username, password: stored.password } : null
  const [first] = credentialsOf(source, stored)
  const token = typeof first === 'object' ? (await first.refresh()).value : first?.trim()
  if (!login && !token) return { login: null, proxy }
  refuseStrangers(task.url, String(stored.endpoint || source.connection.endpoint), source.title)
  return { login: login ?? { user: 'git', password: token as string }, proxy }
}

/** Whoever may write a plan must not be able to have a stored token sent to a host of their choice. */
function refuseStrangers(url: string, endpoint: string, title: string): void {
  const [to, own] = [new URL(url), new URL(endpoint)]
  const isSameHost = to.hostname === own.hostname || `api.${to.hostname}` === own.hostname
  const isSafe = to.protocol === 'https:' || own.protocol === 'http:'
  if (isSameHost && isSafe) return
  throw new UserError(
    `gitextractor: the url is on ${to.origin}, but the ${title} connection belongs to ${own.origin}, so its token is not sent there. Correct the url, or leave connectionId out and give user and password.`,
  )
}

const quoted = (path: string) => `'${path.replaceAll("'", `'\\''`)}'`

async function keyFiles({ options }: GitTask, parent: string): Promise<Access> {
  const privateKey = text(options, 'privateKey')
  const passphrase = text(options, 'passphrase')
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, 'key-'))
  const ssh = [
    'ssh',
    '-o StrictHostKeyChecking=accept-new',
    `-o UserKnownHostsFile=${quoted(join(parent, '..', 'known_hosts'))}`,
    '-o ConnectTimeout=30 -o ServerAliveInterval=30 -o ServerAliveCountMax=4',
  ]
  const environment: Record<string, string> = {}
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
