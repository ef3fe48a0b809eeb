import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { NOBODY } from '../../src/control-plane/audit/record.ts'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { commitLineChange } from '../../src/domain/code.ts'
import { domainTables } from '../../src/domain/index.ts'
import { accounts } from '../../src/domain/people.ts'
import { issues } from '../../src/domain/ticket.ts'
import { importDevLake } from '../../src/import-devlake/import.ts'
import { plugins } from '../../src/plugins/index.ts'
import { openSecrets } from '../../src/secrets/encryption-key.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { allTables } from '../../src/tables.ts'
import { startTestApi } from '../api/support/test-api.ts'
import { anyTable } from '../support/any-table.ts'
import { runCli, startCli } from '../support/cli.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { databasesOf } from '../support/servers.ts'
import { API_KEY, insert, insertRows, makeDevLake, OLD_SECRET, PARAMS, wholeOf } from './support/devlake-database.ts'
import { keysOf, plantDomain } from './support/four-keys.ts'

const ACCOUNTS = 2500
/** Expected differences in row counts: the webhook connection adds its own rows, and one row cannot be stored. */
const DIFFERENCE = new Map([
  ...['cicd_scopes', 'boards', 'repos'].map((name) => [name, 1] as const),
  [commitLineChange.name, -1],
])
const KEY = 'a key that is only used in tests'
describeEachDatabase('import of a DevLake database', (test) => {
  let source: Database
  let from: string
  let keysBefore: unknown
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-import-'))
  const place = { dataFolder, encryptionSecret: KEY }
  const environment = () => ({
    DB_URL: test.url,
    DATA_FOLDER: dataFolder,
    ENCRYPTION_SECRET: KEY,
    LOGGING_FILE: 'stderr',
    OLD_SECRET,
  })
  const command = (...rest: string[]) => [
    'import',
    'devlake',
    '--from',
    from,
    '--encryption-secret-env',
    'OLD_SECRET',
    ...rest,
  ]

  async function empty({ kysely }: Database) {
    for (const { name, isAppendOnly } of allTables) if (!isAppendOnly) await anyTable(kysely).deleteFrom(name).execute()
  }
  async function run(target: Database, options: Partial<Parameters<typeof importDevLake>[2]> = {}) {
    const secrets = await openSecrets(target, place)
    const choice = { secret: OLD_SECRET, variable: 'ENCRYPTION_SECRET', withoutSecrets: false }
    return importDevLake(source, from, { target, secrets, plugins, choice, actor: NOBODY, ...options })
  }
  const rowsOf = async (database: Database, table: string, order = 'id') =>
    anyTable(database.kysely).selectFrom(table).selectAll().orderBy(order).execute()

  beforeAll(async () => {
    from = await test.createDatabase()
    source = await openDatabase(from)
    await makeDevLake(source, test.engine)
    await plantDomain(test.database, source)
    const people = Array.from({ length: ACCOUNTS }, (_, index) => ({ id: `a:${index}`, full_name: `Ada ${index}` }))
    await insertRows(
      source,
      people.map((each) => accounts.row(each)),
    )
    await insert(source, commitLineChange.name, [{ id: 'l', line_no_new: 5_000_000_000 }])
    await sql`update issues set x_team = 'payments'`.execute(source.kysely)
    keysBefore = await keysOf(source)
  })
  beforeEach(() => empty(test.database))
  afterAll(() => source?.close())

  it('is interrupted within a table, continues there, and brings everything over; the source stays as it is', async () => {
    const before = await wholeOf(source)
    const stop = new AbortController()
    const interrupted = run(test.database, {
      signal: stop.signal,
      onProgress: (table) => table === accounts.name && stop.abort(),
    })
    await expect(interrupted).rejects.toThrow()
    const partly = (await rowsOf(test.database, accounts.name)).length
    expect(partly).toBeGreaterThan(0)
    expect(partly).toBeLessThan(ACCOUNTS)
    await expect(prepareDatabase(test.database)).rejects.toThrow(/interrupted: run the same/)

    const report = await run(test.database)
    expect(await wholeOf(source)).toEqual(before)
    const countOf = async ({ kysely }: Database, name: string) =>
      (await anyTable(kysely).selectFrom(name).select(sql<number>`1`.as('one')).execute()).length
    for (const { name } of domainTables.filter((each) => !/calendar_months|dora_benchmarks|^_weir_/.test(each.name))) {
      expect([name, await countOf(test.database, name)]).toEqual([
        name,
        (await countOf(source, name)) + (DIFFERENCE.get(name) ?? 0),
      ])
    }
    expect(await keysOf(test.database)).toEqual(keysBefore)
    expect(keysBefore).not.toContainEqual([expect.anything(), null])
    const teams = await test.database.kysely
      .selectFrom(issues.name as string)
      .select('x_team')
      .distinct()
      .execute()
    expect(teams).toEqual([{ x_team: 'payments' }])

    expect(report.tables).toContainEqual({ table: 'accounts', layer: 'domain', rows: ACCOUNTS })
    expect(report.tables).toContainEqual({ table: '_raw_github_api_issues', layer: 'raw', rows: 1 })
    expect(report.leftOut.tables).toContainEqual({
      table: '_tool_zentao_bugs',
      rows: 1,
      reason: 'Weir has no plugin that uses it',
    })
    expect(report.leftOut.columns).toContainEqual(
      expect.objectContaining({ table: '_tool_jira_connections', column: 'epic_key_field' }),
    )
    expect(report.leftOut.rows).toContainEqual({
      table: '_devlake_blueprint_connections',
      rows: 1,
      reason: 'Weir has no plugin zentao',
    })
    expect(report.leftOut.rows).toContainEqual({
      table: commitLineChange.name,
      rows: 1,
      reason: expect.stringMatching(/unreadable: .*line_no_new: .*too big/),
    })
    expect(report.enterAgain).toEqual([])

    const after = await wholeOf(test.database)
    expect(await run(test.database)).toEqual(report)
    expect(await wholeOf(test.database)).toEqual(after)
  })

  it('configuration is shown and used as if it had been made here', async () => {
    await run(test.database)
    const api = await startTestApi(test.database)
    try {
      expect((await api.ask('GET', '/projects')).body.projects).toMatchObject([
        { name: 'shop', metrics: [{ pluginName: 'dora' }], blueprint: { id: 5 } },
      ])
      const { body } = await api.ask('GET', '/blueprints')
      const byId = body.blueprints.sort((one: { id: number }, other: { id: number }) => one.id - other.id)
      expect(byId).toMatchObject([
        { id: 5, connections: [{ pluginName: 'github', connectionId: 1, scopes: [{ scopeId: '700' }] }] },
        {
          id: 6,
          mode: 'ADVANCED',
          plan: [[{ plugin: 'github', options: { name: 'acme/web' } }]],
          beforePlan: [[{ plugin: 'github', options: { name: 'acme/web' } }]],
        },
      ])
      const pipelines = (await api.ask('GET', '/pipelines')).body.pipelines
      expect(pipelines.map(({ id, status }: Record<string, unknown>) => [id, status])).toEqual([
        [9, 'TASK_CANCELLED'],
        [8, 'TASK_COMPLETED'],
      ])
      const { tasks } = (await api.ask('GET', '/pipelines/8/tasks')).body
      expect(tasks).toMatchObject([
        { plugin: 'zentao', options: { name: 'acme/web' } },
        { plugin: 'github', status: 'TASK_COMPLETED' },
      ])
      expect(await rowsOf(test.database, 'cicd_scopes')).toContainEqual(expect.objectContaining({ name: 'pushes' }))
      const reveal = (plugin: string, id: number) => api.control.services.connections.reveal(plugin, id)
      expect(await reveal('github', 1)).toMatchObject({ token: 'gh-token', secretKey: '', name: 'main' })
      expect(await reveal('jira', 4)).toMatchObject({ password: 'jira-password' })
      const [stored] = await rowsOf(test.database, '_tool_github_connections')
      expect(JSON.stringify(stored)).not.toMatch(/gh-token|pass-word/)
      const created = await api.ask('POST', '/plugins/webhook/connections', { name: 'new' })
      expect(created.body.id).toBe(3)
      expect((await api.ask('GET', '/plugins/github/connections/1/scopes')).body.count).toBe(1)
    } finally {
      await api.close()
    }
    const { digest } = await openSecrets(test.database, place)
    expect(await rowsOf(test.database, '_devlake_api_keys')).toMatchObject([
      { name: 'ci', api_key: digest(API_KEY) },
      {},
    ])
    // Without states of earlier runs, the next run collects everything.
    expect(await rowsOf(test.database, '_devlake_collector_latest_state', 'raw_data_params')).toEqual([])
    expect(await rowsOf(test.database, '_raw_github_api_issues')).toMatchObject([
      { id: 21, params: PARAMS, data: Buffer.from('{"id":1}') },
    ])
  })

  it('killed, it continues; nobody starts a server in between', async () => {
    const stopped = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    // The import waits for this table of the source after it has copied others.
    const lock = source.aside((own) =>
      own.kysely.connection().execute(async (connection) => {
        const isMysql = test.engine === 'mysql'
        await sql
          .raw(isMysql ? 'lock tables pull_requests write' : 'begin; lock table pull_requests')
          .execute(connection)
        locked.resolve()
        await stopped.promise
        await sql.raw(isMysql ? 'unlock tables' : 'rollback').execute(connection)
      }),
    )
    await locked.promise
    const cli = startCli(command(), environment())
    await cli.saw(/weir: commits: /)
    cli.kill('SIGKILL')
    expect(await cli.ended).toBe('SIGKILL')
    stopped.resolve()
    await lock
    const refused = await runCli(['doctor'], environment())
    expect(refused.output).toMatch(/interrupted: run the same/)
    const { code, output, errors } = await runCli(command('--json'), environment())
    expect([code, errors]).toEqual([0, ''])
    expect(JSON.parse(output).tables).toContainEqual({ table: 'accounts', layer: 'domain', rows: ACCOUNTS })
    expect(await keysOf(test.database)).toEqual(keysBefore)
  })

  describe('refuses, and changes nothing', () => {
    const refused = async (pattern: RegExp, options: Parameters<typeof run>[1] = {}) => {
      await openSecrets(test.database, place)
      const before = [await wholeOf(source), await wholeOf(test.database)]
      await expect(run(test.database, options)).rejects.toThrow(pattern)
      expect([await wholeOf(source), await wholeOf(test.database)]).toEqual(before)
    }
    const choice = { variable: 'OLD', withoutSecrets: false }

    it('a wrong secret, or none', async () => {
      await refused(/^OLD is not the secret/, { choice: { ...choice, secret: 'wrong' } })
      await refused(/encrypted: set OLD to/, { choice: { ...choice, secret: undefined } })
    })

    it('a newer and an older DevLake', async () => {
      const row = { script_version: 20_991_231_000_000, script_name: 'of tomorrow', comment: 'Framework' }
      await source.kysely.insertInto('_devlake_migration_history').values(row).execute()
      await refused(/newer version than this Weir knows: its last migration is 20991231000000/)
      await source.kysely.deleteFrom('_devlake_migration_history').where('script_name', '=', 'of tomorrow').execute()
      await sql`alter table _devlake_blueprint_scopes rename to hidden`.execute(source.kysely)
      try {
        await refused(/older version than Weir can read: the table _devlake_blueprint_scopes is missing/)
      } finally {
        await sql`alter table hidden rename to _devlake_blueprint_scopes`.execute(source.kysely)
      }
    })

    it('a target with data of its own', async () => {
      await test.database.kysely.insertInto('projects').values({ name: 'mine' }).execute()
      await refused(/already holds data \(projects\)/)
    })

    it('a source that is not of DevLake, or a command that says neither from where nor in place', async () => {
      const { code, errors } = await runCli(['import', 'devlake', '--from', test.url], {
        ...environment(),
        DB_URL: from,
      })
      expect([code, errors]).toEqual([1, expect.stringMatching(/DB_URL is a database of DevLake. Nothing was changed/)])
      const nothing = await test.createDatabase()
      const { errors: other } = await runCli(['import', 'devlake', '--from', nothing], environment())
      expect(other).toMatch(/not a database of DevLake/)
      expect((await runCli(['import', 'devlake'], environment())).errors).toMatch(/Say where DevLake is/)
    })
  })

  const other = test.engine === 'mysql' ? 'postgres' : 'mysql'
  const server = inject('databaseServers')[other]
  it.skipIf(!server)('comes over to the other engine, and without secrets says which to enter again', async () => {
    const { createDatabase, dropDatabase } = databasesOf(other, server ?? '')
    const url = await createDatabase()
    const target = await openDatabase(url)
    try {
      await prepareDatabase(target)
      const report = await run(target, { choice: { secret: undefined, variable: 'OLD', withoutSecrets: true } })
      expect(await keysOf(target)).toEqual(keysBefore)
      expect(report.enterAgain).toEqual([
        { plugin: 'github', connection: 'main', field: 'token' },
        { plugin: 'jira', connection: 'board', field: 'password' },
      ])
      expect(report.leftOut.rows).toContainEqual({
        table: '_devlake_api_keys',
        rows: 1,
        reason: "an API key is only readable with DevLake's secret",
      })
      const [, byHand] = await rowsOf(target, '_devlake_blueprints')
      expect(byHand).toMatchObject({ name: 'by hand', enable: false })
      expect(await rowsOf(target, '_tool_github_connections')).toMatchObject([{ token: '', name: 'main' }])
    } finally {
      await target.close()
      await dropDatabase(url)
    }
  })
})
