/** Weir without the package `weir-traffic`, which brings the clients of AWS and Kubernetes. */
import { lstatSync, mkdirSync, readdirSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { TRAFFIC_MISSING } from '../../src/start/traffic-door.ts'
import { allTables } from '../../src/tables.ts'
import { createSwitch } from '../../traffic/engine/store.ts'
import { type RunningCommand, startCommand } from '../support/command.ts'
import { describeOneDatabase } from '../support/databases.ts'
import { root } from '../support/programs.ts'
import { copyRepository } from '../support/repository-copy.ts'
import { freePort } from '../support/servers.ts'
import { shopPlan } from './support/shop.ts'

const copy = copyRepository()
const packages = join(copy.folder, 'node_modules')
if (lstatSync(packages).isSymbolicLink()) unlinkSync(packages)
mkdirSync(packages)
for (const name of readdirSync(join(root, 'node_modules')).filter((each) => each !== 'weir-traffic'))
  symlinkSync(join(root, 'node_modules', name), join(packages, name))

it('every command of traffic says in one sentence how to add it, and help still works', async () => {
  for (const parameters of [['status'], ['lint', 'plan.yaml', '--json'], []]) {
    const { code, printed } = await copy.run('src/main.ts', 'traffic', ...parameters)
    expect([code, printed]).toEqual([1, `weir: ${TRAFFIC_MISSING}\n`])
  }
  expect((await copy.run('src/main.ts', '--help')).printed).toMatch(/traffic.* switch weighted traffic/)
  expect((await copy.run('src/main.ts', 'traffic', '--help')).printed).toContain(TRAFFIC_MISSING)
})

describeOneDatabase('a server that cannot switch traffic', (test) => {
  let server: RunningCommand | undefined
  afterAll(() => server?.stop())

  it('starts, answers every address of traffic with that sentence, and says that nobody watches its switches', async () => {
    await migrate(test.database, allTables)
    await createSwitch(test.database, shopPlan(), 'me')
    const port = await freePort()
    const settings = { PORT: String(port), DB_URL: test.url, DATA_FOLDER: join(copy.folder, '.weir') }
    server = startCommand(
      [process.execPath, join(copy.folder, 'src/main.ts'), 'up'],
      { cwd: copy.folder, env: { ...process.env, ...settings } },
      /weir: ready at/,
    )
    await server.ready
    expect(server.printed()).toContain(`nobody watches the traffic switches of this database. ${TRAFFIC_MISSING}`)
    const ask = async (path: string, method = 'GET') => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        ...(method === 'GET' ? {} : { body: '{"yaml":"a: 1"}', headers: { 'content-type': 'application/json' } }),
      })
      return { status: answer.status, body: (await answer.json()) as { message?: string } }
    }
    for (const [path, method] of [
      ['/v1/traffic-switches'],
      ['/v1/traffic-switches/shop/journal?after=1'],
      ['/v1/traffic-switches', 'POST'],
      ['/v1/traffic-plans/simulate', 'POST'],
      ['/v1/traffic-contexts'],
    ] as const)
      expect(await ask(path, method), path).toMatchObject({ status: 501, body: { message: TRAFFIC_MISSING } })
    expect(JSON.stringify((await ask('/swagger/doc.json')).body)).not.toContain('/v1/traffic-')
    expect((await ask('/health')).status).toBe(200)
  })
})
