import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { connectionService } from '../../src/control-plane/connections/connections.ts'
import { testConnection } from '../../src/control-plane/connections/test-connection.ts'
import type { ServiceContext } from '../../src/control-plane/services.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { write } from '../../src/database/write.ts'
import { redact } from '../../src/log.ts'
import { kitTables } from '../../src/plugin-kit/define/tables.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { maskSecret } from '../../src/secrets/secrets.ts'
import { systemTables } from '../../src/system/index.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { startProgram } from '../support/programs.ts'
import { boards } from './made-up.ts'
import {
  CLIENT_SECRET,
  collectStories,
  LIFE_SECONDS,
  type RotatingSource,
  rotating,
  rotatingSpec,
  secrets,
  startRotatingSource,
} from './rotating.ts'

const { connections } = settingsTables(rotatingSpec)
const HOUR = 3_600_000

describeEachDatabase('refresh tokens that rotate', (test) => {
  let source: RotatingSource
  let url: string
  let database: typeof test.database
  const service = () => connectionService({ database, plugins: [rotating], secrets } as unknown as ServiceContext)
  const children: ChildProcess[] = []

  beforeEach(async () => {
    source = await startRotatingSource()
    url = await test.createDatabase()
    database = await openDatabase(url)
    await migrate(database, [...new Set([...systemTables, ...kitTables, ...rotating.tables])])
    await write(database, [boards.row({ connection_id: 1, id: 7, name: 'Seven' } as any)])
    await service().create('madeup', {
      name: 'main',
      endpoint: source.url,
      clientSecret: CLIENT_SECRET,
      refreshToken: source.refreshToken,
    })
  })
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    await database.close()
    await source.stop()
  })

  const storedRow = async (): Promise<any> =>
    (await sql<any>`select * from ${sql.table(connections.name)}`.execute(database.kysely)).rows[0]
  const storedRefreshToken = async () => secrets.decrypt((await storedRow()).refresh_token)

  /** Starts another server. Returns how it ended and what it printed. */
  function startServer() {
    const child = startProgram(join(import.meta.dirname, 'rotating-target.ts'), [url], { stdio: 'pipe' })
    children.push(child)
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data))
    return {
      child,
      ended: new Promise<{ code: number | null; said: string }>((resolve) => {
        child.once('close', (code) => resolve({ code, said }))
      }),
    }
  }

  it('are used once, however many ask at once, and the next one is stored encrypted', async () => {
    const servers = [1, 2, 3].map(() => startServer().ended)
    await Promise.all([collectStories(database), collectStories(database), collectStories(database)])
    for (const { code, said } of await Promise.all(servers)) expect({ code, said }).toMatchObject({ code: 0 })
    expect(source.refreshes).toEqual(['refresh-0'])
    expect(await storedRefreshToken()).toBe(source.refreshToken)
    const row = JSON.stringify(await storedRow())
    for (const token of [source.refreshToken, ...source.accessTokens.keys()]) expect(row).not.toContain(token)
    // Running servers see the tokens that another server has requested.
    source.accessTokens.clear()
    const more = startServer().ended
    await Promise.all([collectStories(database), collectStories(database)])
    expect(await more).toMatchObject({ code: 0 })
    expect(source.refreshes).toHaveLength(2)
  })

  it('are stored before the access token is used: a kill in between loses nothing', async () => {
    const used = Promise.withResolvers<void>()
    source.onUse = () => {
      used.resolve()
      // This request is never answered.
      return new Promise(() => {})
    }
    const { child, ended } = startServer()
    await used.promise
    expect(await storedRefreshToken()).toBe(source.refreshToken)
    child.kill('SIGKILL')
    await ended
    source.onUse = () => {}
    await collectStories(database)
    expect(source.refreshes).toEqual(['refresh-0'])
  })

  it.each([-3, 0, 3])(
    'are used when the access token has run out by the clock of a source %i hours off',
    async (hours) => {
      let passed = 0
      source.now = () => Date.now() + hours * HOUR + passed
      await collectStories(database)
      await collectStories(database)
      expect([source.refreshes.length, source.refusals]).toEqual([1, 0])
      // The source's clock is seen in the next answer, and the run after it uses the time.
      passed = (LIFE_SECONDS - 60) * 1000
      await collectStories(database)
      await collectStories(database)
      expect([source.refreshes.length, source.refusals]).toEqual([2, 0])
    },
  )

  it('are used when the source refuses the access token before its time', async () => {
    await collectStories(database)
    source.accessTokens.clear()
    await collectStories(database)
    expect(source.refreshes).toHaveLength(2)
    expect(await storedRefreshToken()).toBe(source.refreshToken)
  })

  it('that are refused say to connect again, without telling any secret, and a new one is enough', async () => {
    source.refreshToken = 'another-one'
    const lines: string[] = []
    const failure = await collectStories(database, (line) => lines.push(line)).catch((error) => error)
    expect(failure.message).toMatch(
      /no longer accepts the refresh token of connection "main" \(invalid_grant\): connect again/,
    )
    const told = [failure.stack, ...lines].join()
    for (const secret of ['refresh-0', CLIENT_SECRET]) expect(told).not.toContain(secret)
    source.refreshToken = 'one-more-token'
    await service().update('madeup', 1, { refreshToken: 'one-more-token' })
    await collectStories(database)
    expect(source.refreshes).toEqual(['refresh-0', 'one-more-token'])
  })

  it('of a client that is refused are kept', async () => {
    await service().update('madeup', 1, { clientSecret: 'wrong-client-secret' })
    await expect(collectStories(database)).rejects.toThrow(/client of connection "main" \(invalid_client\): correct/)
    await service().update('madeup', 1, { clientSecret: CLIENT_SECRET })
    await collectStories(database)
    expect(source.refreshes).toHaveLength(2)
  })

  it('whose answer is lost show nowhere in what is said of it', async () => {
    source.troubles.push((response) => response.writeHead(503).end(`busy with refresh-0 and ${CLIENT_SECRET}`))
    const lines: string[] = []
    // The refresh token was used nevertheless, and is worthless now.
    const failure = await collectStories(database, (line) => lines.push(line)).catch((error) => error)
    expect(failure.message).toMatch(/connect again/)
    expect([failure.stack, ...lines].join()).not.toMatch(/refresh-0|client-secret-of/)
  })

  it('that cannot be stored at once are kept until they can', async () => {
    const rename = (from: string, to: string) =>
      sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(database.kysely)
    source.delay = () => rename(connections.name, 'away')
    await expect(collectStories(database)).rejects.toThrow(/not sent/)
    expect(source.accessTokens.size).toBe(1)
    await rename('away', connections.name)
    source.delay = async () => {}
    await collectStories(database)
    expect(source.refreshes).toEqual(['refresh-0'])
    expect(await storedRefreshToken()).toBe(source.refreshToken)
  })

  it('are not undone by a form or a file that still has an older one', async () => {
    await collectStories(database)
    const before = await storedRefreshToken()
    for (const refreshToken of [maskSecret('refresh-0'), 'refresh-0', '']) {
      await service().update('madeup', 1, { refreshToken, name: 'renamed' })
      expect(await storedRefreshToken()).toBe(before)
    }
    await collectStories(database)
    expect(source.refreshes).toHaveLength(1)
    await service().update('madeup', 1, { refreshToken: 'of another account' })
    expect(await storedRow()).toMatchObject({ token: '', token_expires_at: null })
  })

  it('of the API are those of the tasks, and what is only tried uses none up', async () => {
    const ask = async (settings: any, isSaved: boolean) =>
      testConnection(rotatingSpec, settings, service(), { isSaved, signal: AbortSignal.timeout(20_000) })
    const unsaved = { endpoint: source.url, clientSecret: CLIENT_SECRET, refreshToken: 'refresh-0' }
    await expect(ask(service().check('madeup', unsaved), false)).rejects.toThrow(/Save the connection first/)
    const tried = await service().reveal('madeup', 1, { refreshToken: 'refresh-9' })
    await expect(ask(tried, true)).rejects.toThrow(/Save the connection first/)
    expect(source.refreshes).toEqual([])
    const result = await ask(await service().reveal('madeup', 1), true)
    expect(result.success).toBe(true)
    for (const token of [source.refreshToken, ...source.accessTokens.keys()]) {
      expect(JSON.stringify(result)).not.toContain(token)
      expect(redact(`got ${token}`)).toBe('got [redacted]')
    }
    await collectStories(database)
    expect(source.refreshes).toHaveLength(1)
  })
})
