/** A project whose rollouts a tool reports twice: all four keys, its policy and rules, and the notice of an update. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Engine, statementText } from '../../src/dashboards/grafana/text.ts'
import { dashboardNamed, panelNamed } from '../../src/dashboards/index.ts'
import { schemaVersions } from '../../src/database/migrate.ts'
import { write } from '../../src/database/write.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { asGrafana } from '../dashboards/as-grafana.ts'
import { calculate } from '../metrics/calculate.ts'
import { describeEachDatabase, type TestDatabase } from '../support/databases.ts'
import { at, RANGE, WORLD } from './world.ts'

describeEachDatabase('a project whose rollouts are told twice', (test: TestDatabase) => {
  let api: TestApi
  const get = async (path: string) => {
    const { status, body } = await api.ask('GET', path)
    expect([path, status, body.message]).toEqual([path, 200, undefined])
    return body
  }
  const deployments = async (more = '') =>
    (await get(`/v1/metrics/deployment-frequency?${RANGE}${more}`)).values[0].counted
  const itemsOf = async (metric: string, more = '') => {
    const { items } = await get(`/v1/metrics/${metric}/items?${RANGE}&reason=counted${more}`)
    return items.map(({ id, value }: any) => [id, value])
  }
  const save = (policy: object) =>
    api.ask('PATCH', '/projects/shop', {
      metrics: [{ pluginName: 'dora', pluginOption: { policy }, enable: true }],
    })
  const stored = async () => {
    const { rows } = await sql<{ deployment_id: string; is_counted: unknown }>`select deployment_id, is_counted
      from _weir_rollouts order by deployment_id`.execute(test.database.kysely)
    return rows.filter(({ is_counted }) => Boolean(is_counted)).map(({ deployment_id }) => deployment_id)
  }

  beforeAll(async () => {
    api = await startTestApi(test.database)
    await api.ask('POST', '/projects', {
      name: 'shop',
      metrics: [{ pluginName: 'dora', pluginOption: '', enable: true }],
    })
    await write(test.database, WORLD)
  })
  afterAll(() => api.close())

  it('an update that changes its numbers says so: before, after, why, and a mark at the day', async () => {
    // The state that the previous version left: calculated, but without rollouts.
    await calculate(test.database, 'shop')
    await sql`delete from _weir_rollouts`.execute(test.database.kysely)
    await sql`delete from _weir_number_changes`.execute(test.database.kysely)
    await sql`delete from ${sql.table(schemaVersions.name)} where version > 3`.execute(test.database.kysely)
    const versions = sql`insert into ${sql.table(schemaVersions.name)} (version, created_at) values (3, ${new Date()})`
    await versions.execute(test.database.kysely).catch(() => {})
    await prepareDatabase(test.database)
    expect((await get('/v1/number-changes?project=shop')).changes).toEqual([])
    expect(await deployments()).toBe(10)

    await calculate(test.database, 'shop')
    const { changes } = await get('/v1/number-changes?project=shop')
    expect(changes).toMatchObject([
      {
        reason:
          'From here on a rollout counts once: 5 deployments of the last 6 months told of rollouts that another stands for.',
      },
    ])
    expect(changes[0].keys.map(({ metric, before, after }: any) => [metric, before.counted, after.counted])).toEqual([
      ['deployment-frequency', 10, 5],
      ['change-lead-time', 4, 4],
      ['change-failure-rate', 10, 5],
      ['failed-deployment-recovery-time', 2, 2],
    ])
    const soon = new Date(Date.now() + 60_000).toISOString()
    const marks = await get(`/v1/annotations?project=shop&from=${at(1).toISOString()}&to=${soon}&kinds=change`)
    expect(marks.annotations).toMatchObject([{ kind: 'change', title: changes[0].reason, url: '/projects/shop' }])
    // The notice appears once: the next run finds nothing new.
    await calculate(test.database, 'shop')
    expect((await get('/v1/number-changes?project=shop')).changes).toEqual(changes)
  })

  it('all four keys count the rollout, and not its rows', async () => {
    expect(await deployments()).toBe(5)
    expect(await deployments('&policy=every-row')).toBe(10)
    // Day 1 is the first deployment. The change that went to staging on day 6 reached production on day 8.
    expect(await itemsOf('change-lead-time')).toEqual([
      ['pr3', 140],
      ['pr5', 140],
      ['pr6', 2 * 24 * 60 + 140],
      ['pr8', 140],
    ])
    expect(await itemsOf('change-lead-time', '&policy=every-row')).toEqual(
      ['pr3', 'pr5', 'pr6', 'pr8'].map((id) => [id, 130]),
    )
    // The incident of day 7 belongs to day 5, because the run of day 6 deployed to staging.
    expect(await itemsOf('change-failure-rate')).toEqual([
      ['n1', 0],
      ['n3', 1],
      ['n5', 1],
      ['n8', 0],
      ['other', 0],
    ])
    expect(await itemsOf('failed-deployment-recovery-time')).toEqual([
      ['i3', 220],
      ['i7', 2 * 24 * 60 + 220],
    ])
    const { annotations } = await get(`/v1/annotations?${RANGE}&kinds=deployment`)
    expect(annotations).toHaveLength(5)
    expect(await deployments('&repository=web')).toBe(4)
  })

  it('panels and Grafana templates count as the project does, whatever it chooses', async () => {
    const panel = panelNamed(dashboardNamed('dora-deployment-frequency'), 'deployments')
    const counts = async () => {
      const engine = test.database.dialect.name as Engine
      const text = asGrafana(engine, statementText(engine, panel), {
        from: at(1),
        to: at(27),
        values: { project: 'shop' },
      })
      const grafana = await sql.raw<{ value: number }>(text).execute(test.database.kysely)
      const path = `/v1/dashboards/dora-deployment-frequency/panels/deployments?from=${at(1).toISOString()}&to=${at(27).toISOString()}&values=${encodeURIComponent('{"project":"shop"}')}`
      return [Number(grafana.rows[0]?.value), (await get(path)).rows[0][0]]
    }
    // Staging counts rollouts too.
    const finished = async () => {
      const values = encodeURIComponent('{"project":"shop"}')
      const range = `from=${at(1).toISOString()}&to=${at(27).toISOString()}`
      const { rows } = await get(`/v1/dashboards/dora/panels/materials?${range}&values=${values}`)
      return rows.find(([material]: [string]) => material === 'Deployments finished')[1]
    }
    expect(await counts()).toEqual([5, 5])
    expect(await finished()).toBe(6)
    expect((await save({ rollouts: 'every-row' })).status).toBe(201)
    expect(await counts()).toEqual([10, 10])
    expect(await finished()).toBe(11)
    expect(await get(`/v1/metrics/deployment-frequency?${RANGE}`)).toMatchObject({
      rollouts: 'every-row',
      definition: expect.stringContaining('Every row of a deployment counts, as in DevLake.'),
    })
    expect(await stored()).toHaveLength(11)
    expect((await save({})).status).toBe(201)
    expect(await counts()).toEqual([5, 5])
    expect(await stored()).toEqual(['n1', 'n3', 'n5', 'n6', 'n8', 'other'])
  })

  it('rules keep apart and join, at once and after a run', async () => {
    expect((await save({ rolloutRules: [{ apart: ['n1', 'p1'] }, { join: ['n3', 'n5'] }] })).status).toBe(201)
    for (const run of [false, true]) {
      if (run) await calculate(test.database, 'shop')
      // One more for day 1, and one less for days 3 and 5 together.
      expect(await deployments()).toBe(5)
      expect((await itemsOf('deployment-frequency')).map(([id]: [string]) => id)).toEqual([
        'p1',
        'n1',
        'n5',
        'n8',
        'other',
      ])
    }
    const list = await get('/v1/rollouts?project=shop')
    expect(list.rules).toEqual([
      { apart: ['n1', 'p1'], problem: null },
      { join: ['n3', 'n5'], problem: null },
    ])
    expect(list.rollouts.find(({ id }: any) => id === 'n5').rows.map(({ id, reason }: any) => [id, reason])).toEqual([
      ['n5', 'stands-as-last'],
      ['n3', 'rule'],
      ['p3', 'run'],
      ['p5', 'run'],
    ])
    expect((await save({ rolloutRules: [{ apart: ['host:Repo:1:web'] }] })).status).toBe(201)
    expect(await deployments()).toBe(10)
    expect((await save({})).status).toBe(201)
    expect(await deployments()).toBe(5)
  })

  it('refuses rules that nobody can follow, and changes nothing', async () => {
    const refused = async (rolloutRules: unknown) => {
      const { status, body } = await save({ rolloutRules } as object)
      expect(status).toBe(400)
      return body.message
    }
    expect(await refused([{ join: ['n1', 'other'] }])).toBe(
      'policy: rolloutRules: rule 1 joins n1 of https://code.example/web and other of https://code.example/other. ' +
        'A rollout is of one repository: name deployments or scopes of one.',
    )
    expect(await refused([{ join: ['host:Repo:1:web', 'hook:1'] }])).toMatch(/A rollout is of one repository/)
    expect(await refused([{ join: ['n1'] }])).toMatch(/must be null, or a list/)
    expect(await refused([{ join: ['n1', 'n3'], apart: ['n1'] }])).toMatch(/must be null, or a list/)
    expect((await save({ rollouts: 'twice' })).body.message).toBe('policy: rollouts must be once or every-row.')
    expect((await save({ rollouts: 'as-stored' })).status).toBe(400)
    expect(await deployments()).toBe(5)
    expect((await get('/v1/rollouts?project=shop')).rules).toEqual([])
    // A rule may name a deployment that is not collected yet.
    expect((await save({ rolloutRules: [{ join: ['n1', 'later'] }] })).status).toBe(201)
    expect((await get('/v1/rollouts?project=shop')).rules).toEqual([
      { join: ['n1', 'later'], problem: 'There is no deployment or scope later yet.' },
    ])
    await save({})
  })
})
