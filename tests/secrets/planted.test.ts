/**
 * Plants a secret of every kind in every possible way, and makes everything fail that can. Then it searches for the secrets
 * in all tables, in printed and logged text, in the data folder, in every answer, and in exports.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabase } from '../../src/database/open.ts'
import { type LiveServer, newDataFolder, startLiveServer } from '../api/support/live-server.ts'
import { type FakeProvider, startFakeProvider } from '../fake-provider/fake-provider.ts'
import { until } from '../pipelines/support/test-control.ts'
import { runCli } from '../support/cli.ts'
import { describeEachWithTables, type TestDatabase } from '../support/databases.ts'

/** Secrets with unique values, found in every form: plain, as part of an address, or in Base64 with the user. */
class Planted {
  readonly all = new Map<string, string>()
  plant(kind: string, value?: string): string {
    const secret = value ?? this.all.get(kind) ?? `planted-${kind}-${randomBytes(9).toString('hex')}`
    this.all.set(kind, secret)
    return secret
  }
  /** Returns the kinds of secrets that a text contains. */
  foundIn(text: string): string[] {
    return [...this.all].flatMap(([kind, value]) => (formsOf(value).some((form) => text.includes(form)) ? [kind] : []))
  }
}
const formsOf = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  JSON.stringify(value).slice(1, -1),
  Buffer.from(value).toString('base64').replace(/=+$/, ''),
  Buffer.from(value).toString('hex'),
  ...['git', 'ada', 'me'].map((user) => Buffer.from(`${user}:${value}`).toString('base64')),
]

/** A source that refuses everybody, and quotes the request. */
async function startParrot(): Promise<{ url: string; heard: string[]; server: Server }> {
  const heard: string[] = []
  const server = createServer((request, response) => {
    const { authorization = '', 'circle-token': token = '', 'proxy-authorization': proxy = '' } = request.headers
    const said = [authorization, token, proxy].join(' ')
    const decoded = said.replace(/Basic (\S+)/g, (_all, basic) => Buffer.from(basic, 'base64').toString())
    heard.push(`${said} ${decoded} ${request.url}`)
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ message: `Bad credentials: ${said} ${decoded}`, error: decoded }))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, heard, server }
}

const textsIn = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), 'latin1')}`)
    .join('\n')

/** Returns every value of every table, as text. */
async function textOfTables({ database }: TestDatabase): Promise<string> {
  const shown = (value: unknown) => (Buffer.isBuffer(value) ? value.toString() : JSON.stringify(value))
  const texts: string[] = []
  for (const { name } of await database.kysely.introspection.getTables()) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(database.kysely)
    texts.push(...rows.map((row) => `${name}: ${Object.values(row).map(shown).join(' ')}`))
  }
  return texts.join('\n')
}

/** Makes a database user with a known password, and returns its address. */
async function databaseUrl({ url, engine, createDatabase: _ }: TestDatabase, password: string): Promise<string> {
  const address = new URL(url)
  const user = `planted_${randomBytes(4).toString('hex')}`
  const admin = await openDatabase(url)
  const statements =
    engine === 'postgres'
      ? [`create role ${user} superuser login password '${password}'`]
      : [
          `create user '${user}'@'%' identified by '${password}'`,
          `grant all on ${address.pathname.slice(1)}.* to '${user}'@'%'`,
        ]
  for (const statement of statements) await sql.raw(statement).execute(admin.kysely)
  await admin.close()
  address.username = user
  address.password = password
  return address.href
}

type Headers = Record<string, string>
interface Mode {
  readonly environment: (planted: Planted, provider: FakeProvider) => Record<string, string>
  /** Signs in to the running server, and returns the headers that prove it. */
  readonly signIn: (planted: Planted, provider: FakeProvider, server: LiveServer) => Promise<Headers>
}

const corporate = (planted: Planted, { issuer }: FakeProvider) => ({
  OIDC_PROVIDERS: 'corp',
  OIDC_CORP_ISSUER_URL: issuer,
  OIDC_CORP_CLIENT_ID: 'weir',
  OIDC_CORP_CLIENT_SECRET: planted.plant('oidc-client'),
  OIDC_CORP_REDIRECT_URL: 'http://127.0.0.1/api/auth/callback',
})
const nobody = async (): Promise<Headers> => ({})

/** Each authentication mode. */
const MODES: Readonly<Record<string, Mode>> = {
  'AUTH=token': {
    environment: (planted, provider) => ({
      AUTH: 'token',
      AUTH_TOKEN: planted.plant('access-token'),
      OIDC_ENABLED: 'true',
      ...corporate(planted, provider),
    }),
    signIn: async (planted) => ({ authorization: `Bearer ${planted.plant('access-token')}` }),
  },
  'no AUTH': { environment: () => ({}), signIn: nobody },
  'AUTH=none': { environment: () => ({ AUTH: 'none' }), signIn: nobody },
  'a proxy that signs people in': {
    environment: (planted) => ({
      AUTH: 'token',
      AUTH_TOKEN: planted.plant('access-token'),
      PROXY_IDENTITY_SECRET: planted.plant('proxy-identity'),
    }),
    signIn: async (planted) => ({
      'x-weir-proxy-secret': planted.plant('proxy-identity'),
      'x-forwarded-user': 'ada',
    }),
  },
  'AUTH=oidc': {
    environment: (planted, provider) => ({ AUTH: 'oidc', ...corporate(planted, provider) }),
    async signIn(planted, provider, { url }) {
      const go = (path: string, cookie = '') => fetch(url + path, { redirect: 'manual', headers: { cookie } })
      const kept = (answer: Response) => answer.headers.getSetCookie().map((each) => each.split(';')[0] as string)
      const begun = await go('/auth/login?provider=corp')
      const back = await provider.approve(begun.headers.get('location') ?? '')
      planted.plant('oidc-code', new URLSearchParams(back).get('code') ?? 'none')
      const cookies = kept(await go(`/auth/callback${back}`, kept(begun).join('; ')))
      const cookieNamed = (name: string) =>
        cookies.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
      planted.plant('oidc-session', cookieNamed('devlake_session') || 'none')
      return { cookie: cookies.join('; '), 'x-csrf-token': cookieNamed('devlake_csrf') }
    },
  },
}
/** One mode is tested with every path of secrets. FULL_SIZE=true tests the others too. */
const modes = Object.entries(MODES).slice(0, process.env.FULL_SIZE === 'true' ? undefined : 1)

for (const [modeName, mode] of modes)
  describeEachWithTables(`planted secrets, ${modeName}`, (test) => {
    const hasTokens = modeName === 'AUTH=token'
    let provider: FakeProvider
    let credentials: Headers = {}
    const planted = new Planted()
    const answers: string[] = []
    const printed: string[] = []
    let parrot: Awaited<ReturnType<typeof startParrot>>
    let server: LiveServer
    let environment: Record<string, string>
    let url: string

    const withUser = (address: string, user: string) => address.replace('://', `://${user}@`)
    async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const answer = await server.ask(
        method,
        path,
        body,
        'authorization' in headers ? headers : { ...credentials, ...headers },
      )
      answers.push(`${method} ${path.split('?')[0]}: ${answer.status} ${answer.text}`)
      expect(answer.status, `${method} ${path} ${answer.text}`).toBeLessThanOrEqual(503)
      return answer
    }

    beforeAll(async () => {
      parrot = await startParrot()
      provider = await startFakeProvider()
      url = await databaseUrl(test, planted.plant('database'))
      environment = {
        LOGGING_LEVEL: 'trace',
        ENCRYPTION_SECRET: planted.plant('encryption-key'),
        SESSION_SECRET: planted.plant('session-secret'),
        ...mode.environment(planted, provider),
        COOKIE_SECURE: 'false',
        NOTIFICATION_ENDPOINT: `${withUser(parrot.url, `me:${planted.plant('notification-user')}`)}hook?token=${planted.plant('notification-address')}`,
        NOTIFICATION_SECRET: planted.plant('notification-secret'),
        API_RETRY: '0',
      }
      server = await startLiveServer(url, environment, newDataFolder())
      credentials = await mode.signIn(planted, provider, server)
    })
    afterAll(async () => {
      await server?.stop()
      parrot?.server.close()
      await provider?.stop()
    })

    async function plantConnections(): Promise<void> {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
      planted.plant('app-key', pem.split('\n')[3] as string)
      const endpoint = parrot.url
      const proxy = withUser(parrot.url, `me:${planted.plant('proxy')}`)
      const all: [string, object][] = [
        ['github', { token: `${planted.plant('token')},${planted.plant('second-token')}`, enableGraphql: false }],
        [
          'github',
          { token: 'expired', refreshToken: planted.plant('refresh'), tokenExpiresAt: '2020-01-01T00:00:00Z' },
        ],
        ['github', { authMethod: 'AppKey', appId: '1', installationId: 1, secretKey: pem }],
        ['jira', { authMethod: 'BasicAuth', username: 'ada', password: planted.plant('basic') }],
        ['jira', { authMethod: 'AccessToken', token: planted.plant('jira-token') }],
        ['circleci', { token: planted.plant('circle-token'), proxy }],
        ['circleci', { token: 'circle-token', proxy: withUser(parrot.url, planted.plant('proxy-user')) }],
      ]
      for (const [index, [plugin, settings]] of all.entries()) {
        const base = `/plugins/${plugin}`
        const sent = { name: `${plugin} ${index}`, endpoint, ...settings }
        const { body } = await ask('POST', `${base}/connections`, sent)
        expect(body.id, JSON.stringify(body)).toBeGreaterThan(0)
        const one = `${base}/connections/${body.id}`
        await ask('POST', `${base}/test`, sent)
        await ask('POST', `${one}/test`, {})
        await ask('GET', `${one}/remote-scopes`)
        await ask('GET', `${one}/proxy/rest/anything`)
        await ask('PATCH', one, { ...sent, name: `${plugin} ${index} renamed` })
        await ask('PATCH', one, { endpoint: 'https://elsewhere.example/' })
        await ask('PATCH', one, { endpoint: withUser(endpoint, `me:${planted.plant(`endpoint-${index}`)}`) })
        await ask('POST', `${base}/connections`, { ...sent, rateLimitPerHour: 'wrong' })
      }
      const scope = {
        githubId: 7,
        name: 'web',
        fullName: 'acme/web',
        cloneUrl: withUser('https://git.example/acme/web.git', `git:${planted.plant('clone-url')}`),
        htmlUrl: `https://git.example/acme/web?access_token=${planted.plant('html-url')}`,
      }
      expect((await ask('PUT', '/plugins/github/connections/1/scopes', { data: [scope] })).status).toBe(200)
    }

    /** Options for tasks that fail. */
    const tasks = () => [
      { url: `${withUser(parrot.url, `git:${planted.plant('git-url')}`)}x.git` },
      { url: `${withUser(parrot.url, planted.plant('git-user'))}x.git` },
      { url: `${parrot.url}x.git?private_token=${planted.plant('git-parameter')}` },
      { url: `${parrot.url}x.git`, user: 'git', password: planted.plant('git-password') },
      { url: `${parrot.url}x.git`, proxy: withUser(parrot.url, `me:${planted.plant('git-proxy')}`) },
      { url: 'git@127.0.0.1:x.git', privateKey: planted.plant('git-key'), passphrase: planted.plant('git-passphrase') },
      {
        url: 5,
        headers: { Authorization: `Bearer ${planted.plant('git-header')}` },
        apiKeys: [planted.plant('git-list')],
      },
      { url: `${parrot.url}x.git`, pluginName: 'github', connectionId: 1 },
    ]
    const stage = (from: number, to: number) =>
      tasks()
        .map((options, index) => ({ plugin: 'gitextractor', options: { repoId: `r${index}`, ...options } }))
        .slice(from, to)

    async function plantRuns(): Promise<void> {
      const wrong = [[{ plugin: 'nonsense', options: { password: planted.plant('wrong-plan') } }]]
      await ask('POST', '/pipelines', { name: 'wrong', plan: wrong })
      await ask('POST', '/projects', { name: 'planted', metrics: [] })
      const github = [[{ plugin: 'github', options: { connectionId: 1, githubId: 7, name: 'acme/web' } }]]
      const circleci = [[{ plugin: 'circleci', options: { connectionId: 1, projectSlug: 'gh/acme/web' } }]]
      const { body: pipeline } = await ask('POST', '/pipelines', {
        name: 'planted',
        skipOnFail: true,
        plan: [stage(0, 8)],
      })
      const { body: blueprint } = await ask('POST', '/blueprints', {
        name: 'planted',
        mode: 'ADVANCED',
        isManual: true,
        cronConfig: 'manual',
        plan: [...github, ...circleci],
        beforePlan: [stage(0, 1)],
        afterPlan: [stage(3, 4)],
      })
      await ask('PATCH', `/blueprints/${blueprint.id}`, { ...blueprint, name: 'planted again' })
      const { body: triggered } = await ask('POST', `/blueprints/${blueprint.id}/trigger`, {})
      for (const { id } of [pipeline, triggered]) {
        expect(id).toBeGreaterThan(0)
        await until(async () => /COMPLETED|FAILED|PARTIAL/.test((await ask('GET', `/pipelines/${id}`)).body.status))
        const archive = await fetch(`${server.url}/pipelines/${id}/logging.tar.gz`, { headers: credentials })
        const log = gunzipSync(Buffer.from(await archive.arrayBuffer())).toString('latin1')
        answers.push(log)
        // Text that is not secret is shown: where a task failed.
        expect(log).toContain(parrot.url)
      }
    }

    async function plantMessages(): Promise<void> {
      const { body: hook } = await ask('POST', '/plugins/webhook/connections', { name: 'ci' })
      const made = await server.ask(
        'POST',
        '/api-keys',
        { name: 'ci', type: 'devlake', allowedPath: '/plugins/webhook/.*' },
        credentials,
      )
      planted.plant('api-key', made.body.apiKey)
      const key = { authorization: `Bearer ${made.body.apiKey}` }
      const repo = withUser('https://git.example/acme/web.git', `gitlab-ci-token:${planted.plant('webhook-url')}`)
      const deployment = {
        id: 'd1',
        startedDate: '2026-01-01T10:00:00Z',
        finishedDate: '2026-01-01T11:00:00Z',
        result: 'SUCCESS',
        displayTitle: 'first',
        deploymentCommits: [
          {
            repoUrl: repo,
            refName: 'main',
            commitSha: 'a'.repeat(40),
            startedDate: '2026-01-01T10:00:00Z',
            finishedDate: '2026-01-01T11:00:00Z',
          },
        ],
      }
      const path = `/rest/plugins/webhook/connections/${hook.webhookId ?? hook.id ?? 1}/deployments?token=${planted.plant('webhook-parameter')}`
      expect((await ask('POST', path, deployment, key)).status).toBe(200)
      await ask('GET', `/rest/plugins/webhook/connections/1`, undefined, {
        authorization: `Bearer ${planted.plant('wrong-key')}`,
      })
      const row = { id: 'r', name: 'r', url: withUser('https://h/x', `u:${planted.plant('push')}`) }
      expect((await ask('POST', '/push/repos', [row])).status).toBe(200)

      if (!hasTokens) return
      const signedIn = await fetch(`${server.url}/auth/token`, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token: environment.AUTH_TOKEN }),
      })
      const [cookie = ''] = signedIn.headers.getSetCookie()
      planted.plant('session', /devlake_session=([^;]+)/.exec(cookie)?.[1] ?? 'none')
      expect(
        (await ask('GET', '/projects', undefined, { authorization: '', cookie: cookie.split(';')[0] ?? '' })).status,
      ).toBe(200)
      await ask('GET', '/auth/login?provider=corp', undefined, { authorization: '' })
      await ask('POST', '/auth/token', { token: planted.plant('wrong-token') }, { authorization: '' })
    }

    /** Sends every GET request of the description, with existing ids. */
    async function askEverything(): Promise<void> {
      const { body: description } = await ask('GET', '/swagger/doc.json')
      const known: Record<string, readonly string[]> = {
        connectionId: ['1', '2'],
        scopeId: ['7'],
        projectName: ['planted'],
        name: ['planted'],
      }
      const paths = Object.entries<any>(description.paths).filter(
        ([path, { get }]) => get && !/event|stream|follow|proxy/.test(path),
      )
      expect(paths.length).toBeGreaterThan(50)
      for (const [template] of paths) {
        for (const index of [0, 1]) {
          const path = template.replace(/\{([^}]+)\}/g, (_all, name) => known[name]?.[index] ?? String(index + 1))
          await ask('GET', path)
        }
      }
    }

    async function runCommands(): Promise<void> {
      const folder = mkdtempSync(join(tmpdir(), 'weir-planted-'))
      const own = { ...environment, DB_URL: url, DATA_FOLDER: server.dataFolder }
      const wrongDatabase = url.replace(planted.all.get('database') ?? '', planted.plant('wrong-database'))
      const exported = join(folder, 'exported.yaml')
      for (const [parameters, environment] of [
        [['config', 'export', exported], own],
        [['doctor'], { ...own, DB_URL: wrongDatabase }],
      ] as const) {
        const { output, errors } = await runCli(parameters, environment)
        printed.push(`weir ${parameters.join(' ')}\n${output}${errors}`)
      }
      const text = readFileSync(exported, 'utf8')
      expect(text).not.toMatch(/\*\*/)
      printed.push(text)
    }

    it('are found nowhere but encrypted', async () => {
      await plantConnections()
      await plantRuns()
      await plantMessages()
      // Output of commands does not depend on the engine.
      if (test.engine === 'postgres' && hasTokens) await runCommands()
      await askEverything()
      printed.push(server.output())

      const places: Record<string, string> = {
        tables: await textOfTables(test),
        answers: answers.join('\n'),
        printed: printed.join('\n'),
        'data folder': textsIn(server.dataFolder),
      }
      for (const [place, text] of Object.entries(places)) {
        expect(text.length, place).toBeGreaterThan(100)
        const lines = text.split('\n').filter((line) => planted.foundIn(line).length > 0)
        const shown = lines.map((line) => `${planted.foundIn(line).join(',')} in ${line.slice(0, 1500)}`)
        expect(shown, `${place}: ${planted.foundIn(text).join(', ')}`).toEqual([])
      }
      // The secrets existed, and were used.
      const used = [
        'token',
        'second-token',
        'basic',
        'jira-token',
        'circle-token',
        'proxy',
        'git-url',
        'git-user',
        'git-password',
        'git-proxy',
      ]
      const heard = parrot.heard.join('\n')
      const unused = used.filter((kind) => !heard.includes(planted.all.get(kind) ?? ''))
      expect(unused, textsIn(join(server.dataFolder, 'logs'))).toEqual([])
    }, 300_000)
  })
