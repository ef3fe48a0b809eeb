import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { newDataFolder } from '../api/support/live-server.ts'
import { DEFAULT_TOKEN, startFakeGithub } from '../fake-github/fake-github.ts'
import { startCli } from '../support/cli.ts'
import { type Gateway, openGateway } from '../support/gateway.ts'
import { databasesOf } from '../support/servers.ts'
import { realControl } from './support/real-control.ts'
import {
  paint,
  prepareTestDatabase,
  SECRET_KEY,
  statesOf,
  testControl,
  testRunner,
  testThreads,
  until,
  untilFinished,
} from './support/test-control.ts'

for (const engine of ['postgres', 'mysql'] as const) {
  const server = inject('databaseServers')[engine]
  describe.skipIf(!server)(`a database that restarts (${engine})`, () => {
    const { createDatabase, dropDatabase } = databasesOf(engine, server ?? '')
    let url: string
    let gateway: Gateway
    let direct: Database
    beforeAll(async () => {
      url = await createDatabase()
      gateway = await openGateway(url)
      direct = await openDatabase(url)
    })
    afterAll(async () => {
      await direct?.close()
      await gateway?.close()
      await dropDatabase(url)
    })

    it('interrupts runs, and fails none of them', async () => {
      await prepareTestDatabase(direct)
      const database = await openDatabase(gateway.url)
      const control = testControl(database)
      const threads = testThreads(control, gateway.url)
      const runner = await testRunner(control, threads)
      const watcher = testControl(direct)
      const plan = [[paint({ place: 'away 1', count: 8, pauseMs: 100 })], [paint({ place: 'away 2' })]]
      const { id } = await watcher.services.pipelines.create({ plan })
      for (const cut of [gateway.breakOff, gateway.stop]) {
        const marks = async () =>
          (await sql<{ count: number }>`select count(*) as count from test_marks`.execute(direct.kysely)).rows[0]?.count
        const before = Number(await marks())
        await until(async () => Number(await marks()) > before)
        await cut()
        await until(async () => (await watcher.services.pipelines.tasks(id)).length > 0)
        await gateway.start()
      }
      expect(await untilFinished(watcher, id)).toMatchObject({
        status: 'TASK_COMPLETED',
        finishedTasks: 2,
        message: '',
      })
      expect(statesOf(await watcher.services.pipelines.tasks(id))).toEqual(['1.1 TASK_COMPLETED', '2.1 TASK_COMPLETED'])
      const later = await watcher.services.pipelines.create({ plan: [[paint({ place: 'away 3' })]] })
      expect(await untilFinished(watcher, later.id)).toMatchObject({ status: 'TASK_COMPLETED' })
      await runner.stop()
      await threads.close()
      await database.close()
    })

    it('is waited for by weir collect, which says so', async () => {
      await prepareDatabase(direct)
      const github = await startFakeGithub({ world: { repositories: [{ name: 'acme/web' }] } })
      const source = await openGateway(`${github.url}/`)
      const { services } = realControl(direct)
      const { id: connectionId } = await services.connections.create('github', {
        name: 'main',
        endpoint: source.url,
        authMethod: 'AccessToken',
        token: DEFAULT_TOKEN,
      })
      const tickets = { name: 'tickets', entities: ['TICKET'] }
      const { id: scopeConfigId } = await services.scopeConfigs.create('github', connectionId, tickets)
      const scope = {
        scopeConfigId,
        githubId: github.world.repositories[0]?.id ?? 1,
        name: 'web',
        fullName: 'acme/web',
      }
      await services.scopes.put('github', connectionId, [scope])
      const scopes = [{ scopeId: String(scope.githubId) }]
      const connections = [{ pluginName: 'github', connectionId, scopes }]
      await services.projects.create({ name: 'shop', blueprint: { isManual: true, connections } })
      const held = source.hold()
      const cli = startCli(['collect', 'shop'], {
        DB_URL: gateway.url,
        DATA_FOLDER: newDataFolder(),
        ENCRYPTION_SECRET: SECRET_KEY,
      })
      try {
        await until(async () => held.waiting() > 0)
        await gateway.stop()
        await until(async () => cli.errors().includes('The run continues when the database is back.'))
        await gateway.start()
        held.release()
        expect(await cli.ended, cli.output() + cli.errors()).toBe(0)
        expect(cli.output()).toMatch(/Run \d+: completed/)
        expect(cli.errors()).not.toMatch(/ at .*\.ts|unexpected error/)
      } finally {
        cli.kill('SIGKILL')
        await source.close()
        await github.stop()
      }
    })
  })
}
