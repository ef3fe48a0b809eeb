/** Configuration files are applied as a whole or not at all, by the command line and over REST alike. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { parseConfig } from '../../src/config-as-code/document.ts'
import { exportConfig } from '../../src/config-as-code/export.ts'
import { applyConfig, planConfig } from '../../src/config-as-code/reconcile.ts'
import { auditEntries } from '../../src/system/access.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { runCli, startCli } from '../support/cli.ts'
import { describeEachWithTables } from '../support/databases.ts'
import {
  clearConfiguration,
  configContext,
  LOCKS_ARE_KNOWN_AFTER,
  storedConfiguration,
  waitingForLocks,
} from './support/config-context.ts'
import { SECRET_KEY, startTestApi, type TestApi } from './support/test-api.ts'

const SECRET = 'sec-Zq81vTnW'
const bare = (name: string) => `\${${name}}`
const variable = (name: string) => `'${bare(name)}'`
const TOKEN = variable('TOKEN')
const WRONG = variable('WRONG')

describeEachWithTables('a configuration file', (test) => {
  let api: TestApi
  let github: FakeGithub
  beforeAll(async () => {
    const names = ['acme/web', 'acme/api', 'acme/worker', 'globex/site']
    github = await startFakeGithub({
      world: { repositories: [...names.map((name) => ({ name })), { name: 'acme/old', archived: true }] },
    })
    api = await startTestApi(test.database)
  })
  afterAll(async () => {
    await api.close()
    await github.stop()
  })
  beforeEach(() => clearConfiguration(test.database))

  const environment: Record<string, string> = { TOKEN: DEFAULT_TOKEN, WRONG: 'ghp_wrong', SECRET }
  const parse = (text: string) => parseConfig(text, 'weir.yaml', environment)
  const plan = async (text: string, allowsEmpty = false) =>
    planConfig(parse(text), { ...configContext(api), allowsEmpty })
  const apply = async (text: string, allowsEmpty = false) =>
    applyConfig(parse(text), { ...configContext(api), allowsEmpty })
  const connection = (rest = '') => `{ endpoint: ${github.url}/, token: ${TOKEN}${rest} }`
  const collect = (scopes: string, rest = '') => `[{ connection: github/main, scopes: ${scopes}${rest} }]`
  const file = (scopes: string, rest = '') =>
    `connections:\n  github:\n    main: ${connection()}\nprojects:\n  shop:\n    collect: ${collect(scopes, rest)}\n`

  /** Checks that plan and apply refuse the file with the same words, and that nothing is stored. */
  async function refused(text: string, says: RegExp): Promise<string> {
    const before = await storedConfiguration(test.database)
    const messages: string[] = []
    for (const attempt of [plan, apply]) {
      messages.push(
        await attempt(text).then(
          () => 'it was accepted',
          (error) => `${error.constructor.name.replace('PlacedError', 'UserError')}: ${error.message}`,
        ),
      )
    }
    expect(messages[0]).toMatch(says)
    expect(messages[0]).toMatch(/^UserError: weir\.yaml:\d+: /)
    expect(messages[1]).toBe(messages[0])
    expect(await storedConfiguration(test.database)).toEqual(before)
    for (const secret of [DEFAULT_TOKEN, SECRET]) expect(messages[0]).not.toContain(secret)
    return messages[0] as string
  }

  it('stores nothing when a token is wrong, wherever in the file', async () => {
    const other = `    other: { endpoint: ${github.url}/, token: ${WRONG} }\n`
    const text = file('[acme/*]').replace('projects:', `${other}projects:`)
    await refused(text, /:4: .*(401|token|credential)/i)
    await apply(file('[acme/*]'))
    await refused(file('[acme/*]').replace(TOKEN, WRONG), /:3: .*(401|token|credential)/i)
    expect((await api.ask('GET', '/v1/config')).body.config).toContain(bare('TOKEN'))
  })

  it('stores nothing of what stands before a fault, and says where it is', async () => {
    const cases: readonly (readonly [text: string, says: RegExp])[] = [
      [`${file('[acme/web]')}  late:\n    schedule: every day\n`, /:8: .*every day/],
      [`${file('[acme/web]')}  late:\n    metrics:\n      - dora\n      - nothing\n`, /:10: .*nothing/],
      [`${file('[acme/web]')}  late:\n    plan: [[{ plugin: nobody }]]\n`, /:8: .*nobody/],
      [`${file('[acme/web]')}  late:\n    metrics: [dora, dora]\n`, /:8: dora is named twice/],
      [file('[acme/web]').replace(TOKEN, `${TOKEN}, proxy: 'nonsense'`), /:3: proxy must be an address/],
      [
        file('[acme/web]').replace(TOKEN, `${TOKEN},\n      enpoint: x`),
        /:4: enpoint is not known; did you mean endpoint/,
      ],
      [file('[acme/web]').replace(TOKEN, `${TOKEN}, scopeConfigs: { r: { prType: "(" } }`), /:3: prType/],
      [file('[acme/web]').replace(TOKEN, SECRET.slice(0, 3)), /:3: token is a secret/],
      [file('[acme/web]').replace(TOKEN, variable('NOT_SET')), /:3: token comes from NOT_SET, which is not set/],
      [file('[acme/web]', ', scopeConfig: rulez'), /:6: rulez is not among the scope configs of github\/main/],
      [file('[acme/web]').replace('github/main', 'github/mian'), /:6: github\/mian .*; did you mean github\/main/],
      [file('[{ githubId: 1, nmae: x }]'), /:6: nmae is not known; did you mean name/],
      [file('[{ name: x }]'), /:6: githubId is missing/],
      [`${file('[acme/web]')}    constructor: {}\n`, /:7: .*constructor is not a known field/],
      [`${file('[acme/web]')}  __proto__: {}\n`, /:7: this name cannot be used/],
      [`${file('[acme/web]')}    description: "a\\0b"\n`, /:7: description contains a NUL character/],
      [`${file('[acme/web]')}    timeAfter: soon\n`, /:7: .*must be a time/],
      [`${file('[acme/web]')}    labels: [a]\n    labels: [b]\n`, /:8: .*unique/],
      [`${file('[acme/web]')}    collect:\n      - [\n`, /:\d+: /],
      [`${file('[acme/web]')}  ' late': {}\n`, /:7: .*begins or ends with a space/],
    ]
    for (const [text, says] of cases) {
      const failure = await refused(text, says).catch((error) => error)
      if (failure instanceof Error) throw new Error(`${text}\n${failure.message}`)
    }
  })

  it('refuses a misspelt repository and a selector that chooses nothing, unless told', async () => {
    await refused(file('[acme/wbe]'), /:6: .*nothing called acme\/wbe .*; did you mean acme\/web/)
    await refused(file('[acme/web,\n      acmee/web]'), /:7: .*nothing called acmee\/web .*; did you mean acme/)
    await refused(file('[acme/web-*]'), /:6: .*nothing called acme\/web-\*/)
    await refused(file('[acme/*]', ', topic: nobody'), /:6: this selector matches nothing/)
    await refused(file('[acme/web]', ', except: [acme/*]'), /:6: acme\/web is named here, but except leaves it out/)
    await refused(
      file('[acme/web, acme/*]', ', topic: nobody'),
      /:6: acme\/web is named here, but it has no topic nobody/,
    )
    await refused(file('[]'), /:6: github\/main needs scopes/)
    for (const scopes of ['[acme/wbe]', '[acmee/web]', '[]']) {
      await apply(file(scopes), true)
      expect(await plan(file(scopes), true)).toEqual([])
    }
    expect((await apply(file('[acme/web]'))).map(({ subject }) => subject)).toEqual([
      'github scope acme/web',
      'schedule of shop',
    ])
  })

  it('tells in a sentence what the other side has to say', async () => {
    await apply(file('[acme/web]'))
    for (let count = 0; count < 4; count++) github.failNext('bad-gateway')
    await expect(plan(file('[acme/*]'))).rejects.toMatchObject({ status: 503, message: /^weir\.yaml:6: / as any })
    const elsewhere = file('[acme/web]').replace(`${github.url}/`, 'http://127.0.0.1:1/')
    await refused(elsewhere, /:3: /)
  })

  it('lets two connections have a scope config of one name, each with its own', async () => {
    const both = `connections:
  github:
    main: ${connection(', scopeConfigs: { rules: { prType: main } }')}
    second: ${connection(', scopeConfigs: { rules: { prType: second } }')}
projects:
  shop:
    collect:
      - { connection: github/main, scopes: [acme/web], scopeConfig: rules }
      - { connection: github/second, scopes: [acme/web], scopeConfig: rules }
`
    const made = await apply(both)
    expect(made.map(({ subject }) => subject)).toContain('github scope config rules of second')
    expect(await apply(both)).toEqual([])
    const { github: stored } = parse(await exportConfig(configContext(api))).document.connections
    expect(stored?.main?.scopeConfigs.rules).toEqual({ prType: 'main' })
    expect(stored?.second?.scopeConfigs.rules).toEqual({ prType: 'second' })
    const twice = both.replace(
      'shop:',
      'other:\n    collect: [{ connection: github/main, scopes: ["acme/*"], scopeConfig: more }]\n  shop:',
    )
    await refused(twice.replace('rules: { prType: main }', 'rules: { prType: main }, more: {}'), /it can have one/)
  })

  it('settles: whatever a value looks like, the second time there is nothing to change', async () => {
    const rules = `refdiff: { tagsPattern: v, tagsLimit: 3 }, prSizeExcludedFileExtensions: .lock, issueTypeBug: 5`
    const text = `connections:
  github:
    main: ${connection(`, rateLimitPerHour: '70', enableGraphql: 'true', scopeConfigs: { rules: { ${rules} } }`)}
projects:
  none: { metrics: [], labels: [b, a, b], timeAfter: null }
  one: { metrics: [{ linker: { prToIssueRegexp: x, b: 1, a: { d: 1, c: [2] } } }, dora], schedule: ' MANUAL ' }
`
    const first = await apply(text)
    expect(first.map(({ subject }) => subject)).toContain('github scope config rules')
    const before = await storedConfiguration(test.database)
    expect(await apply(text)).toEqual([])
    expect(await plan(text)).toEqual([])
    expect(await storedConfiguration(test.database)).toEqual(before)
    const { services } = api.control
    expect((await services.projects.get('none')).metrics).toEqual([])
    await apply(text.replace('metrics: [{', 'metrics: [issue_trace, {'))
    await apply(text.replace(/metrics: \[\{.*dora\]/, 'metrics: []'))
    expect((await services.projects.get('one')).metrics).toEqual([])
    expect(await plan(text.replace(/metrics: \[\{.*dora\]/, 'metrics: []'))).toEqual([])
  })

  it('exports plans of their own, names of variables and no secret, and takes that again', async () => {
    const text = `connections:
  github:
    main: { endpoint: ${github.url}/, token: { env: TOKEN }, proxy: '' }
projects:
  advanced:
    description: costs $\${5} and $${bare('TOKEN')}
    timeAfter: null
    fullSync: true
    skipCollectors: true
    beforePlan: [[{ plugin: org, options: {} }]]
    plan:
      - - plugin: gitextractor
          subtasks: []
          options: { url: 'https://git:${bare('SECRET')}@example.org/x.git', repoId: ${variable('SECRET')}, env: PROD, deep: { env: X } }
`
    await apply(text)
    const stored = await exportConfig(configContext(api))
    expect(stored).not.toContain(SECRET)
    expect(stored).not.toContain(DEFAULT_TOKEN)
    expect(stored).toContain('env: TOKEN')
    expect(stored).toContain(`https://git:${bare('SECRET')}@example.org/x.git`)
    expect(await apply(stored)).toEqual([])
    await clearConfiguration(test.database)
    await apply(stored)
    expect(await exportConfig(configContext(api))).toBe(stored)
    const { blueprint } = await api.control.services.projects.get('advanced')
    expect(blueprint).toMatchObject({ mode: 'ADVANCED', fullSync: true, skipCollectors: true, timeAfter: null })
    await refused(text.replace(`${bare('SECRET')}@`, 'abc@'), /:14: url is a secret/)
    await refused(`${text}    collect: [{ connection: github/main, scopes: [acme/web] }]\n`, /either collect or a plan/)
  })

  it('names secrets that were entered by hand after their place, each by a name of its own', async () => {
    const settings = (name: string, token: string) => ({
      name,
      endpoint: `${github.url}/`,
      token,
      proxy: `http://u:${SECRET}@localhost:1`,
    })
    for (const name of ['a b', 'a_b']) {
      const { status } = await api.ask(
        'POST',
        '/plugins/github/connections',
        settings(name, `${DEFAULT_TOKEN}${name === 'a b' ? '' : 'x'}`),
      )
      expect(status).toBe(201)
    }
    const { config } = (await api.ask('GET', '/v1/config')).body
    const { connections } = (await import('yaml')).parse(config)
    const names = ['a b', 'a_b'].flatMap((name) => [connections.github[name].token, connections.github[name].proxy])
    expect(new Set(names.map(({ env }) => env)).size).toBe(4)
    expect(names.every(({ env }) => /^[A-Z_0-9]+$/.test(env))).toBe(true)
    expect(config).not.toMatch(/\*\*/)
    expect(config).not.toContain(SECRET)
  })

  it('is applied by one at a time, and what somebody edits meanwhile is not lost', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => apply(file('[acme/*]'))))
    expect(all.filter((changes) => changes.length > 0)).toHaveLength(1)
    const { services } = api.control
    const { blueprint } = await services.projects.get('shop')
    // While sources are asked, nothing has been read yet, so an edit made now is not overwritten.
    const applying = apply(`${file('[acme/*]')}    priority: 3\n`)
    await services.blueprints.update(blueprint?.id ?? 0, { name: 'renamed' })
    await applying
    expect((await services.projects.get('shop')).blueprint).toMatchObject({ name: 'renamed', priority: 3 })
  })

  it('leaves nothing when its process is killed in the middle', async () => {
    await api.control.services.projects.create({ name: 'shop', description: 'old' })
    const before = await storedConfiguration(test.database)
    const path = join(mkdtempSync(join(tmpdir(), 'weir-config-')), 'weir.yaml')
    writeFileSync(path, file('[acme/*]'))
    const variables = { DB_URL: test.url, DATA_FOLDER: api.dataFolder, ENCRYPTION_SECRET: SECRET_KEY, ...environment }
    await test.database.aside(async ({ kysely: beside }) =>
      beside.transaction().execute(async (kysely) => {
        await kysely.updateTable('projects').set({ description: 'held' }).where('name', '=', 'shop').execute()
        // The command first writes connection and scopes. Then it waits for the project, whose row is locked here.
        const cli = startCli(['config', 'apply', path], variables)
        let isOver = false
        void cli.ended.then(() => {
          isOver = true
        })
        while (!isOver && (await waitingForLocks(test.database, test.engine)) === 0) await sleep(LOCKS_ARE_KNOWN_AFTER)
        cli.kill('SIGKILL')
        expect(await cli.ended).toBe('SIGKILL')
        await kysely.updateTable('projects').set({ description: 'old' }).where('name', '=', 'shop').execute()
      }),
    )
    expect(await storedConfiguration(test.database)).toEqual(before)
    const made = await apply(file('[acme/*]'))
    expect(made.length).toBeGreaterThan(3)
  }, 120_000)

  it('is exported into a new file, and over no other one', async () => {
    await apply(file('[acme/web]'))
    const folder = mkdtempSync(join(tmpdir(), 'weir-config-'))
    const path = join(folder, 'weir.yaml')
    writeFileSync(path, 'by hand')
    const variables = { DB_URL: test.url, DATA_FOLDER: api.dataFolder, ENCRYPTION_SECRET: SECRET_KEY, ...environment }
    const run = (...parameters: string[]) => runCli(['config', 'export', ...parameters], variables)
    expect(await run(path)).toMatchObject({ code: 1, errors: expect.stringContaining(`${path} exists already`) })
    expect(readFileSync(path, 'utf8')).toBe('by hand')
    expect(await run(folder, '--force')).toMatchObject({ code: 1, errors: expect.stringContaining('is a folder') })
    expect(await run(path, '--force')).toMatchObject({ code: 0, output: expect.stringContaining(`is in ${path}`) })
    expect(readFileSync(path, 'utf8')).toBe(await exportConfig(configContext(api)))
  }, 120_000)

  it('is planned, applied and exported over REST as by the command line, with the variables of the sender', async () => {
    const body = { config: file('[acme/*]'), variables: { TOKEN: DEFAULT_TOKEN } }
    const entries = async () =>
      ((await storedConfiguration(test.database))[auditEntries.name] ?? []).sort((one, other) => one.id - other.id)
    const before = (await entries()).length
    const planned = await api.ask('POST', '/v1/config/plan', body)
    expect(planned.status).toBe(200)
    expect(await storedConfiguration(test.database)).toMatchObject({ projects: [] })
    const applied = await api.ask('POST', '/v1/config/apply', body)
    expect(applied.body).toEqual(planned.body)
    expect((await api.ask('POST', '/v1/config/apply', body)).body).toEqual({ changes: [] })
    const { config } = (await api.ask('GET', '/v1/config')).body
    expect((await api.ask('POST', '/v1/config/plan', { ...body, config })).body).toEqual({ changes: [] })
    const audit = (await entries()).slice(before).map(({ subject }) => subject)
    expect(audit).toEqual(['github connection', 'project', 'github scopes', 'blueprint'])

    const failed = await api.ask('POST', '/v1/config/apply', { ...body, config: file('[acme/wbe]') })
    expect([failed.status, failed.body.message]).toEqual([400, expect.stringMatching(/^config:6: /)])
    // The sender cannot use the server's own variables.
    const own = await api.ask('POST', '/v1/config/plan', { config: file('[acme/*]').replace('TOKEN', 'PATH') })
    expect([own.status, own.body.message]).toEqual([400, expect.stringContaining('PATH, which is not set')])
    const empty = { ...body, config: file('[acme/wbe]'), allowEmpty: true }
    expect((await api.ask('POST', '/v1/config/plan', empty)).status).toBe(200)
    expect((await api.ask('POST', '/v1/config/plan', { config: 5 })).status).toBe(400)
  })
})
