/** Output that a person sees at a start, in a log, and when something is wrong. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { selectRows } from '../../src/control-plane/store.ts'
import { createLog } from '../../src/log.ts'
import { plugins } from '../../src/plugins/index.ts'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { createControlPlane } from '../../src/start/create-control-plane.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { connectionStates } from '../../src/system/runs.ts'
import { runCli, startCli } from '../support/cli.ts'
import { describeOneDatabase } from '../support/databases.ts'

const SECRET = 'a key that is only used in tests'

describeOneDatabase('the first minutes', (test) => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-first-'))
  const environment = () => ({ DB_URL: test.url, DATA_FOLDER: dataFolder, ENCRYPTION_SECRET: SECRET, PORT: '0' })
  beforeAll(() => prepareDatabase(test.database))

  it('a start says where to go, how to sign in and what to do next; the log goes where it was sent', async () => {
    const file = join(dataFolder, 'own', 'weir.log')
    // A folder as an earlier version made it.
    const clones = join(dataFolder, 'git')
    mkdirSync(clones, { recursive: true })
    chmodSync(clones, 0o755)
    const cli = startCli(['up'], { ...environment(), AUTH: 'token', LOGGING_FILE: file })
    const [, address = ''] = await cli.saw(/Open +(http:\S+)/)
    await cli.saw(/Stop +Ctrl-C/)
    const page = await fetch(`${address}/auth/login`, { headers: { accept: 'text/html' } })
    cli.kill('SIGTERM')
    expect(await cli.ended).toBe(0)
    expect(await page.text()).toMatch(/<form method="post".*Access token/s)
    expect(cli.output()).toContain(`Sign in  with the token in ${join(dataFolder, 'access-token')}`)
    expect(cli.output()).toMatch(
      /Next +open it in a browser: it guides you to the first numbers\n +or describe a project in weir.yaml/,
    )
    expect(cli.output()).toContain(`Commands DATA_FOLDER=${dataFolder} npx weir …`)
    expect(cli.output()).toContain(`Log      ${file}`)
    expect(cli.errors()).toBe('')
    expect(readFileSync(file, 'utf8')).toContain('"msg":"Server listening')
    expect(statSync(clones).mode & 0o777).toBe(0o700)
  })

  it('doctor ends with 0 when all is well, and with 1 when a connection does not answer', async () => {
    expect((await runCli(['doctor'], environment())).code).toBe(0)
    const secrets = createSecrets(SECRET)
    const log = createLog('silent')
    const { services } = createControlPlane({ database: test.database, plugins, secrets, dataFolder, log })
    await services.connections.create('circleci', { name: 'gone', endpoint: 'http://127.0.0.1:9/', token: 'x' })
    const { code, output } = await runCli(['doctor'], { ...environment(), API_RETRY: '0' })
    expect(output).toMatch(/^bad +circleci connection gone: /m)
    expect(code).toBe(1)
    // The pages show the same state.
    const states = await selectRows(test.database.kysely, connectionStates)
    expect(states).toMatchObject([{ plugin: 'circleci', failure: expect.stringMatching(/./), pipeline_id: 0 }])
  })

  it('an unknown project is answered with the nearest, and with all', async () => {
    const { services } = createControlPlane({
      database: test.database,
      plugins,
      secrets: createSecrets(SECRET),
      dataFolder,
      log: createLog('silent'),
    })
    await services.projects.create({ name: 'shop' })
    const { code, errors } = await runCli(['collect', 'shpo'], { ...environment(), LOGGING_LEVEL: 'silent' })
    expect(errors).toBe('weir: There is no project shpo; did you mean shop? There are: shop.\n')
    expect(code).toBe(1)

    // A run that does not get its turn says what it waits for.
    const other = await services.pipelines.create({
      name: 'nightly',
      plan: [[{ plugin: 'org', subtasks: [], options: {} }]],
    })
    const setOther = (status: string) =>
      test.database.kysely.updateTable('_devlake_pipelines').set({ status }).where('id', '=', other.id).execute()
    await setOther('TASK_RUNNING')
    const waiting = startCli(['collect', 'shop'], { ...environment(), CONSUME_PIPELINES: 'false' })
    await waiting.saw(new RegExp(`^Run \\d+ waits until others end: run ${other.id} \\(nightly\\)\\.$`, 'm'))
    await setOther('TASK_CANCELLED')
    waiting.kill('SIGINT')
    expect(await waiting.ended).toBe(130)
  })
})
