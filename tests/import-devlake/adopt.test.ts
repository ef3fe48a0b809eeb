import { mkdtempSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { NOBODY } from '../../src/control-plane/audit/record.ts'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { commitFiles } from '../../src/domain/code.ts'
import { type AdoptOptions, adoptDevLake } from '../../src/import-devlake/adopt.ts'
import { plugins } from '../../src/plugins/index.ts'
import { openSecrets } from '../../src/secrets/encryption-key.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { SMALL } from '../collect/support/fake.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { anyTable } from '../support/any-table.ts'
import { runCli, startCli } from '../support/cli.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { freePort } from '../support/servers.ts'
import { insertRows, makeDevLake, OLD_SECRET, wholeOf } from './support/devlake-database.ts'
import { keysOf, plantDomain } from './support/four-keys.ts'

/** An answer of the API, by any route. */
type Answer = any
const KEY = 'a key that is only used in tests'

describeEachDatabase('adoption of a DevLake database in place', (test) => {
  let fake: FakeGithub
  let database: Database
  let url: string
  let keysBefore: unknown
  const folder = mkdtempSync(join(tmpdir(), 'weir-adopt-'))
  const place = { dataFolder: folder, encryptionSecret: KEY }
  const environment = () => ({ DB_URL: url, DATA_FOLDER: folder, ENCRYPTION_SECRET: KEY, LOGGING_FILE: 'stderr' })
  const adopt = (options: Partial<AdoptOptions> = {}) =>
    adoptDevLake(database, url, {
      plugins,
      choice: { secret: OLD_SECRET, variable: 'OLD', withoutSecrets: false },
      backup: { isPromised: true },
      actor: NOBODY,
      openSecrets: (own) => openSecrets(own, place),
      ...options,
    })

  beforeAll(async () => {
    fake = await startFakeGithub({ world: { users: 12, repositories: [SMALL] } })
    url = await test.createDatabase()
    database = await openDatabase(url)
    const repositoryId = fake.world.find(SMALL.name)?.id as number
    await makeDevLake(database, test.engine, { endpoint: fake.url, token: DEFAULT_TOKEN, repositoryId })
    await plantDomain(test.database, database)
    await insertRows(database, [commitFiles.row({ id: 'f', commit_sha: 's', file_path: 'src/Größe.ts' })])
    keysBefore = await keysOf(database)
  })
  afterAll(async () => {
    await database?.close()
    await fake?.stop()
  })

  it('a command that is pointed at it refuses it untouched', async () => {
    const before = await wholeOf(database)
    for (const command of [['up'], ['config', 'export']]) {
      const { code, errors } = await runCli(command, { ...environment(), PORT: String(await freePort()) })
      expect([code, errors]).toEqual([
        1,
        expect.stringMatching(/database of DevLake\. Nothing was changed.*--in-place/),
      ])
    }
    expect(await wholeOf(database)).toEqual(before)
  })

  it('refuses, and changes nothing, without a backup that is newer than the last change, or with a wrong secret', async () => {
    const before = await wholeOf(database)
    const file = join(folder, 'dump.sql')
    const refused = async (pattern: RegExp, options: Partial<AdoptOptions>) => {
      await expect(adopt(options)).rejects.toThrow(pattern)
      expect(await wholeOf(database)).toEqual(before)
    }
    await refused(/add --backup FILE/, { backup: {} })
    await refused(/cannot be read/, { backup: { file } })
    writeFileSync(file, '')
    await refused(/is empty/, { backup: { file } })
    writeFileSync(file, 'a dump')
    utimesSync(file, new Date('2026-04-30'), new Date('2026-04-30'))
    await refused(/was changed at 2026-05-01T10:00:00.000Z: stop DevLake/, { backup: { file } })
    await refused(/is not the secret/, { choice: { secret: 'wrong', variable: 'OLD', withoutSecrets: false } })
    utimesSync(file, new Date('2026-05-02'), new Date('2026-05-02'))
    const stop = new AbortController()
    const interrupted = adopt({ backup: { file }, signal: stop.signal, onProgress: () => stop.abort() })
    await expect(interrupted).rejects.toThrow()
    await expect(prepareDatabase(database)).rejects.toThrow(/adoption of a DevLake database was interrupted/)
  })

  it('continues to the end; again, it changes nothing', async () => {
    const command = ['import', 'devlake', '--in-place', '--encryption-secret-env', 'OLD', '--json']
    const { code, output, errors } = await runCli(command, { ...environment(), OLD: OLD_SECRET })
    expect([code, errors]).toEqual([0, ''])
    expect(JSON.parse(output)).toMatchObject({ inPlace: true, enterAgain: [] })
    expect(await keysOf(database)).toEqual(keysBefore)
    const after = await wholeOf(database)
    expect(JSON.parse(JSON.stringify(await adopt()))).toEqual(JSON.parse(output))
    expect(await wholeOf(database)).toEqual(after)
    const [file] = await database.kysely.selectFrom('commit_files').selectAll().where('id', '=', 'f').execute()
    expect(file).toMatchObject({ file_path: 'src/Größe.ts' })
    // DevLake's key lacks the connection.
    for (const connection_id of [1, 2]) {
      const assignment = { connection_id, user_id: 'PADA', incident_number: 4 }
      await anyTable(database.kysely).insertInto('_tool_pagerduty_assignments').values(assignment).execute()
    }
    await anyTable(database.kysely).deleteFrom('_tool_pagerduty_assignments').where('user_id', '=', 'PADA').execute()
    // In DevLake each name is unique over all connections.
    const configs = anyTable(database.kysely).insertInto('_tool_github_scope_configs')
    await configs.values({ id: 90, connection_id: 2, name: 'rules' }).execute()
    await anyTable(database.kysely).deleteFrom('_tool_github_scope_configs').where('id', '=', 90).execute()
  })

  it('the server shows what was there, and collects again', async () => {
    const port = await freePort()
    const cli = startCli(['up'], { ...environment(), PORT: String(port) })
    try {
      await cli.saw(/ready at/)
      const ask = async (path: string, method = 'GET') => {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method })
        expect([path, answer.status]).toEqual([path, method === 'GET' ? 200 : expect.any(Number)])
        return answer.json() as Promise<Answer>
      }
      expect(await ask('/projects')).toMatchObject({ projects: [{ name: 'shop' }] })
      expect(await ask('/blueprints')).toMatchObject({ count: 2 })
      expect(await ask('/plugins/github/connections')).toMatchObject([{ name: 'main' }])
      const { pipelines } = await ask('/pipelines')
      expect(pipelines.map(({ id }: { id: number }) => id)).toEqual([9, 8])
      const { id } = await ask('/blueprints/5/trigger', 'POST')
      expect(id).toBe(10)
      let status = ''
      while (!/COMPLETED|PARTIAL|FAILED|CANCELLED/.test(status)) {
        await sleep(200)
        ;({ status } = await ask(`/pipelines/${id}`))
      }
      const { tasks } = await ask(`/pipelines/${id}/tasks`)
      const failed = tasks.filter((task: Answer) => task.status !== 'TASK_COMPLETED')
      expect(failed.map(({ plugin, failedSubTask, message }: Answer) => [plugin, failedSubTask, message])).toEqual([])
      expect(status).toBe('TASK_COMPLETED')
    } finally {
      cli.kill('SIGTERM')
      await cli.ended
    }
    const count = async (table: string) =>
      (await anyTable(database.kysely).selectFrom(table).select('github_id').execute()).length
    expect([await count('_tool_github_pull_requests')]).toEqual([SMALL.pullRequests])
  })
})
