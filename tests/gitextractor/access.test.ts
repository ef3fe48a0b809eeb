import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { write } from '../../src/database/write.ts'
import { RetryableError, UserError } from '../../src/errors.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { githubSpec } from '../../src/plugins/github/plugin.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { clear, collect, freshData, stored } from './support/collect.ts'
import { makeRepository, type Repository, temporaryFolder } from './support/repository.ts'
import { serveGit } from './support/server.ts'

const LOGIN = { user: 'git', password: 'correct-horse/battery+staple' }

function smallRepository(): Repository {
  const repository = makeRepository()
  for (const name of ['one', 'two', 'three']) {
    repository.write(`${name}.txt`, `${name}\n`.repeat(3))
    repository.commit(name)
  }
  return repository
}
const pathOf = ({ folder }: Repository) => `/${folder.split('/').at(-1)}/.git`

/** Returns every file under a folder as one text. */
const textsIn = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')

const modeOf = (path: string) => statSync(path).mode & 0o777

describeOneWithTables('access to git history', (test) => {
  beforeEach(() => clear(test.database))

  it('clones over HTTP with credentials that show nowhere', async () => {
    const data = freshData(false)
    const repository = smallRepository()
    const server = await serveGit(dirname(repository.folder), LOGIN)
    const url = server.url + pathOf(repository)
    const withPassword = `${url.replace('://', `://git:${encodeURIComponent(LOGIN.password)}@`)}`
    const basic = Buffer.from(`${LOGIN.user}:${LOGIN.password}`).toString('base64')
    const lines: string[] = []
    const shown: string[] = []
    // While git runs, no part of the secret may appear in the list of processes.
    server.fault = () => {
      shown.push(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }))
      return false
    }
    for (const options of [{ url, ...LOGIN }, { url, password: LOGIN.password }, { url: withPassword }]) {
      await collect(test.database, options, { log: (line) => lines.push(line) })
    }
    expect((await stored(test.database)).commits).toHaveLength(3)
    expect(modeOf(join(data, 'git'))).toBe(0o700)
    expect(shown.length).toBeGreaterThan(5)
    expect(shown.some((text) => text.includes('git-remote-http'))).toBe(true)
    const everything = [...shown, ...lines, textsIn(data), JSON.stringify(await stored(test.database))].join('\n')
    for (const secret of [LOGIN.password, encodeURIComponent(LOGIN.password), basic]) {
      expect(everything.includes(secret)).toBe(false)
    }
    expect(server.requests.every(({ authorization }) => authorization === `Basic ${basic}`)).toBe(true)
  })

  it('takes the token of the connection, and sends it to no other host', async () => {
    freshData(false)
    const repository = smallRepository()
    const server = await serveGit(dirname(repository.folder), { user: 'git', password: 'token-of-connection' })
    const url = server.url + pathOf(repository)
    const { connections } = settingsTables(githubSpec)
    await test.database.kysely.deleteFrom(connections.name).execute()
    const row = { name: 'one', endpoint: `${server.url}/`, auth_method: 'AccessToken', token: 'stored' }
    await write(test.database, [connections.row({ id: 1, ...row })])
    const options = { url: url.replace('://', '://git:stale@'), pluginName: 'github', connectionId: 1 }
    const decrypt = (value: string) => (value === 'stored' ? 'token-of-connection,second' : value)
    await collect(test.database, options, { decrypt })
    expect((await stored(test.database)).commits).toHaveLength(3)

    for (const endpoint of ['https://api.github.com/', 'https://127.0.0.1/']) {
      await write(test.database, [connections.row({ id: 1, ...row, endpoint })])
      server.requests.length = 0
      await expect(collect(test.database, options, { decrypt })).rejects.toThrow(/its token is not sent there/)
      expect(server.requests).toEqual([])
    }
    // Another port is another server, even on this machine.
    await write(test.database, [connections.row({ id: 1, ...row, endpoint: 'http://127.0.0.1:1/' })])
    await expect(collect(test.database, { ...options, url }, { decrypt })).rejects.toThrow()
    expect(server.requests.length).toBeGreaterThan(0)
    expect(server.requests.filter(({ authorization }) => authorization !== undefined)).toEqual([])
  })

  it('sends it through no other proxy, and to no other port of another machine', async () => {
    freshData(false)
    const { connections } = settingsTables(githubSpec)
    await test.database.kysely.deleteFrom(connections.name).execute()
    const row = {
      name: 'one',
      endpoint: 'https://git.example/api/v3/',
      auth_method: 'AccessToken',
      token: 'token-1234',
    }
    await write(test.database, [connections.row({ id: 1, ...row })])
    const options = { url: 'https://git.example/x.git', pluginName: 'github', connectionId: 1 }
    for (const [wrong, message] of [
      [{ proxy: 'http://127.0.0.1:1' }, /not the proxy of the connection, so its token is not sent there/],
      [{ url: 'https://git.example:8443/x.git' }, /its token is not sent there/],
      [{ proxy: 'nonsense' }, /the option proxy must be/],
      [{ url: 'https://git.example/x.git?private_token=abc' }, /holds a token as a parameter/],
    ] as const) {
      await expect(collect(test.database, { ...options, ...wrong })).rejects.toThrow(message)
    }
  })

  it('follows the server that moved a repository, and takes nothing else for one', async () => {
    const data = freshData(false)
    const repository = smallRepository()
    const other = await serveGit(dirname(repository.folder))
    const server = await serveGit(dirname(repository.folder), LOGIN)
    let to = server.url
    server.fault = (response, { url = '' }) => {
      if (!url.startsWith('/old/')) return false
      response.writeHead(301, { location: `${to}${url.slice('/old'.length)}` }).end()
      return true
    }
    const url = `${server.url}/old${pathOf(repository)}`
    await collect(test.database, { url, ...LOGIN })
    expect((await stored(test.database)).commits).toHaveLength(3)
    to = other.url
    await expect(collect(test.database, { url, ...LOGIN })).rejects.toThrow(/redirects to another server.*credentials/)
    expect(other.requests).toEqual([])
    to = 'http://169.254.169.254'
    const anonymous = await serveGit(dirname(repository.folder))
    anonymous.fault = server.fault
    const closed = `${anonymous.url}/old${pathOf(repository)}`
    await expect(collect(test.database, { url: closed })).rejects.toThrow(/blocked address/)
    // Git would accept this answer as a repository without branches, and the collected data would be deleted.
    server.fault = (response) => Boolean(response.writeHead(200, { 'content-type': 'text/plain' }).end())
    await expect(collect(test.database, { url, ...LOGIN })).rejects.toThrow(/not as a git repository/)
    expect((await stored(test.database)).commits).toHaveLength(3)
    expect(textsIn(data)).not.toContain(LOGIN.password)
  })

  it('clones from no address that is closed', async () => {
    freshData(false)
    for (const options of [
      { url: 'http://169.254.169.254/x.git' },
      { url: 'http://2852039166/x.git' },
      { url: 'http://[::ffff:169.254.169.254]/x.git' },
      { url: 'ssh://git@169.254.169.254/x.git' },
      { url: 'git@169.254.169.254:x.git' },
      { url: 'git@0xa9fea9fe:x.git' },
      { url: 'http://127.0.0.1:1/x.git', proxy: 'http://169.254.169.254:3128' },
    ]) {
      await expect(collect(test.database, options), JSON.stringify(options)).rejects.toThrow(/blocked address/)
    }
  })

  it('leaves files at the server when line counts are not wanted, and gets them when they are', async () => {
    const data = freshData(false)
    const repository = smallRepository()
    const server = await serveGit(dirname(repository.folder))
    const url = server.url + pathOf(repository)
    const files = () => {
      const [home = ''] = readdirSync(join(data, 'git'))
      return execFileSync(
        'git',
        [
          `--git-dir=${join(data, 'git', home, 'clone.git')}`,
          'cat-file',
          '--batch-all-objects',
          '--batch-check=%(objecttype)',
        ],
        { encoding: 'utf8' },
      )
        .split('\n')
        .filter((type) => type === 'blob' || type === 'tree').length
    }
    await collect(test.database, { url, skipCommitStat: true })
    expect(files()).toBe(0)
    expect((await stored(test.database)).commits).toHaveLength(3)
    repository.write('four.txt', 'four\n')
    repository.commit('four')
    await collect(test.database, { url, skipCommitStat: true })
    expect(files()).toBe(0)
    await collect(test.database, { url })
    expect(files()).toBe(8)
    const { commits } = await stored(test.database)
    expect(commits?.map(({ additions }) => additions).sort()).toEqual([1, 3, 3, 3])
  })

  it('says what is wrong and what to change', async () => {
    freshData(false)
    const repository = smallRepository()
    const server = await serveGit(dirname(repository.folder), LOGIN)
    const url = server.url + pathOf(repository)
    const failure = async (options: Record<string, unknown>) =>
      collect(test.database, options).then(
        () => undefined,
        (error) => error,
      )
    const wrong = await failure({ url, password: 'wrong-password' })
    expect(wrong).toBeInstanceOf(UserError)
    expect(wrong.message).toMatch(/refused the credentials: check/)
    expect(wrong.message).not.toContain('wrong-password')
    expect((await failure({ url })).message).toMatch(/refused the credentials/)
    const gone = await failure({ url: `${server.url}/nowhere.git`, ...LOGIN })
    expect(gone).toBeInstanceOf(UserError)
    expect(gone).toMatchObject({ status: 404, message: expect.stringMatching(/There is no repository .*nowhere\.git/) })
    expect((await failure({ url: 'https://no-such-host.invalid/a/b' })).message).toMatch(/host .* is unknown/)
    server.fault = (response) =>
      Boolean(response.writeHead(200, { 'content-type': 'text/html' }).end('<html>\n<body>Sign in</body>\n</html>\n'))
    expect((await failure({ url, ...LOGIN })).message).toMatch(/not as a git repository/)
    server.fault = (response) => Boolean(response.writeHead(403).end())
    expect((await failure({ url, ...LOGIN })).message).toMatch(/refused the credentials/)
    server.fault = (response) => Boolean(response.writeHead(503).end())
    expect(await failure({ url, ...LOGIN })).toBeInstanceOf(RetryableError)
  })

  it('tries again what broke off', async () => {
    freshData(false)
    const repository = smallRepository()
    const server = await serveGit(dirname(repository.folder))
    let faults = 2
    server.fault = (response, request) => {
      if (faults === 0 || (faults === 1 && request.method !== 'POST')) return false
      faults--
      if (faults === 1) response.writeHead(502).end()
      else response.destroy()
      return true
    }
    await collect(test.database, { url: server.url + pathOf(repository) })
    expect(faults).toBe(0)
    expect((await stored(test.database)).commits).toHaveLength(3)
  })

  it('ends git at once when it is told to stop', async () => {
    freshData(false)
    const repository = smallRepository()
    const server = await serveGit(dirname(repository.folder))
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    server.fault = () => {
      resolve()
      return true
    }
    const stop = new AbortController()
    const url = server.url + pathOf(repository)
    const running = collect(test.database, { url }, { signal: stop.signal }).catch((error) => error)
    await asked
    const reason = new Error('cancelled')
    stop.abort(reason)
    expect(await running).toBe(reason)
    const isLeft = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes(url)
    while (isLeft()) await sleep(20)
    server.fault = null
    await collect(test.database, { url })
    expect((await stored(test.database)).commits).toHaveLength(3)
  })

  it('refuses addresses that are none', async () => {
    freshData(false)
    for (const url of [
      '',
      '--upload-pack=touch /tmp/x',
      '-oProxyCommand=x',
      'ext::sh -c touch% /tmp/x',
      'file:///etc',
      '/etc',
      '../here',
      'https://',
      'ssh://-oProxyCommand=x/path',
      'git@-oProxyCommand=x:path',
      'git@host:-path',
      'https://host/pa th',
      'ftp://host/path',
      'fd::17/foo',
    ]) {
      await expect(collect(test.database, { url }), url).rejects.toThrow(/the option url/)
    }
    await expect(collect(test.database, { url: 'https://host/x', repoId: '' })).rejects.toThrow(/repoId is missing/)
    await expect(collect(test.database, { url: 'https://host/x', skipCommitStat: 'yes' })).rejects.toThrow(
      /true or false/,
    )
  })

  it('gives ssh a key that only it can read, and takes it away again', async () => {
    const data = freshData(false)
    const repository = smallRepository()
    // Replaces the program ssh: records its arguments and serves the repository itself.
    const folder = temporaryFolder()
    writeFileSync(
      join(folder, 'ssh'),
      `#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    -i) key="$2"; shift 2;;
    -o) printf '%s ' "$2" >> "${folder}/options"; shift 2;;
    -*) shift;;
    *) break;;
  esac
done
stat -c %a "$key" > "${folder}/mode"; cat "$key" > "${folder}/key"
[ -z "$SSH_ASKPASS" ] || "$SSH_ASKPASS" > "${folder}/passphrase"
ps -eo args > "${folder}/processes"
shift
exec sh -c "$*"
`,
    )
    chmodSync(join(folder, 'ssh'), 0o755)
    const path = process.env.PATH
    process.env.PATH = `${folder}:${path}`
    onTestFinished(() => {
      process.env.PATH = path
    })
    const privateKey = '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAAsecretAAAA\n-----END OPENSSH PRIVATE KEY-----'
    const url = `git@localhost:${repository.folder}`
    await collect(test.database, { url, privateKey, passphrase: 'open sesame' })
    expect(readFileSync(join(folder, 'options'), 'utf8')).toMatch(/HostName=(127.0.0.1|::1) HostKeyAlias=localhost/)
    expect((await stored(test.database)).commits).toHaveLength(3)
    expect(readFileSync(join(folder, 'mode'), 'utf8').trim()).toBe('600')
    expect(readFileSync(join(folder, 'key'), 'utf8').trim()).toBe(privateKey)
    expect(readFileSync(join(folder, 'passphrase'), 'utf8').trim()).toBe('open sesame')
    expect(readFileSync(join(folder, 'processes'), 'utf8')).not.toMatch(/open sesame|AAAAsecretAAAA/)
    expect(textsIn(data)).not.toMatch(/open sesame|AAAAsecretAAAA/)
    const [home = ''] = readdirSync(join(data, 'git'))
    expect(readdirSync(join(data, 'git', home))).toEqual(['clone.git'])
    expect(existsSync(join(data, 'git', home)) && statSync(join(data, 'git', home)).isDirectory()).toBe(true)
  })
})
