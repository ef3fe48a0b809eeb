/** `weir storage` and `weir retention` as people run them: what fills the disk, and what is deleted from it. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { createLog } from '../../src/log.ts'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { subtaskName } from '../../src/plugin-kit/spec/entity.ts'
import { plugins } from '../../src/plugins/index.ts'
import { differences, proveMetrics } from '../../src/runner/retention/metric-proof.ts'
import { openSecrets } from '../../src/secrets/encryption-key.ts'
import { createControlPlane } from '../../src/start/create-control-plane.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { rawMarks } from '../../src/system/state.ts'
import { calculate } from '../metrics/calculate.ts'
import { plantOrganisation } from '../metrics/organisation.ts'
import { runCli } from '../support/cli.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { chooseSteps, countSteps, killAt } from '../support/killed-cli.ts'

const ENOUGH_MS = 900_000
const KILLS = 3
const RECORDS = 400
const PROJECT = 'project 0'
const LONG_AGO = new Date('2025-01-02T03:04:05.000Z')
const place = { dataFolder: mkdtempSync(join(tmpdir(), 'weir-keeping-')), encryptionSecret: 'a key that is for tests' }
/** A list whose old records no later run reads again. */
const source = plugins.find(({ name }) => name === 'circleci')?.source
const pipelines = source?.entities.find(({ spec }) => spec.raw === 'circleci_api_pipelines')
const raw = rawTable('circleci_api_pipelines')

describeEachWithTables('what a database holds', (test) => {
  const environment = () => ({
    DB_URL: test.url,
    DATA_FOLDER: place.dataFolder,
    ENCRYPTION_SECRET: place.encryptionSecret,
  })
  const amount = async (statement: string) => {
    const { rows } = await sql.raw<{ amount: number }>(statement).execute(test.database.kysely)
    return Number(rows[0]?.amount)
  }
  /** Returns the bytes of old payloads, the number of records, and the number of runs. */
  const state = async () => [
    await amount(`select coalesce(sum(octet_length(data)), 0) as amount from ${raw.name}`),
    await amount(`select count(*) as amount from ${raw.name}`),
    await amount('select count(*) as amount from _devlake_pipelines'),
  ]
  const now = new Date()
  const proof = () => proveMetrics({ database: test.database, plugins }, now)

  beforeAll(async () => {
    const { database } = test
    await prepareDatabase(database)
    const secrets = await openSecrets(database, place)
    const { services } = createControlPlane({
      database,
      plugins,
      secrets,
      dataFolder: place.dataFolder,
      log: createLog('silent'),
    })
    await services.projects.create({ name: PROJECT })
    await write(database, plantOrganisation(1, 12).rows)
    await calculate(database, PROJECT)
    const { id: connectionId } = await services.connections.create('circleci', {
      name: 'builds',
      endpoint: 'http://127.0.0.1:1/',
      token: 'a token',
    })
    await services.scopes.put('circleci', Number(connectionId), [{ id: 'p', slug: 'gh/acme/web', name: 'web' }])
    const params = JSON.stringify({ ConnectionId: connectionId, ProjectSlug: 'gh/acme/web' })
    await write(
      database,
      Array.from({ length: RECORDS }, (_, number) =>
        raw.row({
          params,
          url: '',
          input_key: '',
          record_key: String(number),
          created_at: LONG_AGO,
          data: Buffer.from(JSON.stringify({ id: number, text: 'payload '.repeat(20) })),
        }),
      ),
    )
    if (!source || !pipelines) throw new Error('there is such a list')
    const subtask = subtaskName(source.spelling, 'extract', pipelines)
    await write(database, [rawMarks.row({ plugin: 'circleci', subtask, params, raw_mark: RECORDS - 10 })])
    const plan = [[{ plugin: 'dora', subtasks: [], options: { projectName: PROJECT } }]]
    for (let number = 0; number < 5; number++) {
      const { id } = await services.pipelines.create({ name: `run ${number}`, plan })
      await services.pipelines.cancel(id)
    }
    await database.kysely
      .updateTable('_devlake_pipelines')
      .set({ finished_at: LONG_AGO, created_at: LONG_AGO })
      .where('id', '<=', 4)
      .execute()
  })

  it('is printed by layer, table and scope', { timeout: ENOUGH_MS }, async () => {
    const shown = await runCli(['storage'], environment())
    expect([shown.code, shown.errors]).toEqual([0, ''])
    expect(shown.output).toMatch(/^The database holds [\d.,]+ \wB\.\n\nBy layer\n/)
    expect(shown.output).toMatch(/\nBy table\n( +[\d.,]+ \w+ {2}\S+, about \d+ rows\n){20} +and \d+ more\n/)
    expect(shown.output).toMatch(new RegExp(`\\nBy scope \\(raw records\\)\\n.* circleci \\S+, ${RECORDS} records\\n$`))
    const { bytes, layers, tables, scopes } = JSON.parse((await runCli(['storage', '--json'], environment())).output)
    const sum = (each: { bytes: number }[]) => each.reduce((all, { bytes: own }) => all + own, 0)
    expect([sum(layers), sum(tables)]).toEqual([bytes, bytes])
    expect(layers.map(({ layer }: { layer: string }) => layer)).toEqual(['raw', 'tool', 'domain', 'system'])
    expect(scopes).toEqual([expect.objectContaining({ plugin: 'circleci', records: RECORDS })])
    expect(tables.length).toBeGreaterThan(400)
  })

  it('is let go when it is old: rehearsed first, whole or not at all, and without a change of any metric', {
    timeout: ENOUGH_MS,
  }, async () => {
    const command = ['retention', '--raw-days', '30', '--run-days', '30']
    const [before, metrics] = [await state(), await proof()]
    expect([...metrics.values()].some((value) => /"value":[1-9]/.test(JSON.stringify(value)))).toBe(true)
    const rehearsed = await runCli([...command, '--dry-run'], environment())
    expect([rehearsed.code, rehearsed.errors]).toEqual([0, ''])
    expect(rehearsed.output).toMatch(/raw, before \d{4}-\d\d-\d\d:\n {2}_raw_circleci_api_pipelines: 390 rows, about /)
    expect(rehearsed.output).toMatch(/\n {2}_devlake_pipelines: 4 rows, about /)
    expect(rehearsed.output).toMatch(
      new RegExp(`\\n${metrics.size} metrics compared: all equal\\.\\nNothing was changed\\.\\n$`),
    )
    expect(await state()).toEqual(before)
    const steps = await countSteps([...command, '--dry-run', '--json'], environment())
    expect(await state()).toEqual(before)

    // A rehearsal undoes everything in its last steps, but here the last steps commit. So kills happen only in the first 90 %.
    for (const step of chooseSteps(Math.floor(steps * 0.9), KILLS)) {
      await killAt(step, command, environment())
      expect(await state()).toEqual(before)
    }

    const done = await runCli([...command, '--json'], environment())
    expect([done.code, done.errors]).toEqual([0, ''])
    expect(JSON.parse(done.output)).toMatchObject({ dryRun: false, metrics: metrics.size, changed: [] })
    const [bytes = 0, records, runs] = await state()
    expect([records, runs]).toEqual([RECORDS, 1])
    expect(bytes).toBeLessThan((before[0] ?? 0) / 20)
    expect(differences(metrics, await proof())).toEqual([])
    const again = await runCli(command, environment())
    expect(again.output).toMatch(/raw, before \S+ nothing\nruns, before \S+ nothing\n\d+ metrics compared/)
  })

  it('is kept for ever unless somebody says how long', { timeout: ENOUGH_MS }, async () => {
    const { code, errors } = await runCli(['retention'], environment())
    expect([code, errors]).toEqual([1, expect.stringContaining('Everything is kept for ever: set RAW_RETENTION_DAYS')])
    const wrong = await runCli(['retention', '--raw-days', 'many'], environment())
    expect([wrong.code, wrong.errors]).toEqual([1, expect.stringContaining('must be a whole number, not many')])
  })
})
