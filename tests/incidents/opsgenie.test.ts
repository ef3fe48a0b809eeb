/** Opsgenie over HTTP, from an empty database, and its possible problems. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { definePlugin } from '../../src/plugin-kit/index.ts'
import type { Plugin, PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import { incidents } from '../../src/plugins/opsgenie/entities/incidents.ts'
import { newestFirst } from '../../src/plugins/opsgenie/kit.ts'
import { opsgenie } from '../../src/plugins/opsgenie/plugin.ts'
import { type FakeOpsgenie, KEY, startFakeOpsgenie } from '../fake-opsgenie/fake-opsgenie.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { addService, connect, offered, rowsOf, runService, testOf } from './support.ts'

/** The plugin with its own rule for long lists, for an Opsgenie whose lists end earlier. */
function limitedTo(most: number): Plugin {
  const spec = opsgenie.source as PluginSpec
  const entities = spec.entities.map((entity) =>
    entity.table === incidents
      ? { ...entity, spec: { ...entity.spec, collect: { ...entity.spec.collect, ...newestFirst(most) } } }
      : entity,
  )
  return definePlugin({ ...spec, entities } as PluginSpec)
}

const [WEB, API] = ['service-web', 'service-api']

describeOneWithTables('collecting from Opsgenie', (test) => {
  let fake: FakeOpsgenie
  const at = (time: number | string) => {
    fake.world.now = () => new Date(time)
  }
  beforeEach(async () => {
    fake = await startFakeOpsgenie()
    await connect(test.database, opsgenie, fake.url, KEY)
    for (const [id, name] of [
      [WEB, 'Web shop'],
      [API, 'API'],
    ] as const) {
      fake.world.addService(id, name)
      await addService(test.database, opsgenie, id, 'old name')
    }
  })
  afterEach(() => fake.stop())
  const run = (service = WEB) => runService(test.database, opsgenie, service)
  const rows = (table: string, ...columns: string[]) => rowsOf(test.database, table, ...columns)

  it('brings every page, with users and teams as assignees', async () => {
    for (let number = 0; number < 205; number++) fake.world.open(WEB)
    const last = fake.world.open(WEB, {
      responders: [
        { type: 'user', id: 'user-ada' },
        { type: 'team', id: 'team-data' },
      ],
    })
    fake.failures.push({ path: 'offset=100', status: 429, headers: { 'retry-after': '0' } })
    await run()
    expect(await rows('issues', 'id')).toHaveLength(206)
    const people = await rows('issue_assignees', 'assignee_id', 'assignee_name', 'issue_id')
    expect(people.filter(({ issue_id }) => issue_id.endsWith(`:${last.id}`))).toEqual([
      { assignee_id: 'opsgenie:Team:1:team-data', assignee_name: 'data', issue_id: `opsgenie:Incident:1:${last.id}` },
      { assignee_id: 'opsgenie:User:1:user-ada', assignee_name: 'ADA', issue_id: `opsgenie:Incident:1:${last.id}` },
    ])
    // An issue has room for one assignee: a person before a team.
    const [assigned] = (await rows('issues', 'id', 'assignee_id', 'assignee_name')).filter(({ id }) =>
      id.endsWith(`:${last.id}`),
    )
    expect(assigned).toMatchObject({ assignee_id: 'opsgenie:User:1:user-ada', assignee_name: 'ADA' })
    expect(await rows('boards', 'id', 'name')).toEqual([{ id: `opsgenie:Service:1:${WEB}`, name: 'Web shop' }])
    expect(await rows('users', 'name')).toHaveLength(3)
    expect(await rows('_weir_gaps', 'reason')).toEqual([])
  })

  it.each([250, 299, 300, 301, 600, 750])(
    'brings all of %i incidents from an Opsgenie that lists no more than 300',
    async (count) => {
      fake.settings.most = 300
      const start = Date.parse('2026-01-01T00:00:00Z')
      for (let number = 0; number < count; number++) {
        // Some incidents have the same time, including those where the list ends.
        at(start + Math.floor(number / 3) * 60_000)
        fake.world.open(WEB)
      }
      at(Date.now() - 3_600_000)
      await runService(test.database, limitedTo(300), WEB)
      expect(await rows('issues', 'id')).toHaveLength(count)
      expect(await rows('_weir_gaps', 'reason')).toEqual([])
      const [last] = fake.world.incidents.splice(-1)
      fake.world.incidents.splice(0, 1)
      await runService(test.database, limitedTo(300), WEB)
      expect(await rows('issues', 'id')).toHaveLength(count - 2)
      expect((await rows('issues', 'issue_key')).map(({ issue_key }) => issue_key)).not.toContain(last?.id)
    },
  )

  it('says what is missing where more incidents are of one moment than Opsgenie lists', async () => {
    fake.settings.most = 300
    at('2026-01-01T00:00:00Z')
    for (let number = 0; number < 350; number++) fake.world.open(WEB)
    at(Date.now() - 3_600_000)
    await runService(test.database, limitedTo(300), WEB)
    expect(await rows('issues', 'id')).toHaveLength(300)
    expect(await rows('_weir_gaps', 'reason')).toEqual([
      { reason: expect.stringMatching(/createdAt.*the server sent the same page twice/) },
    ])
  })

  it('keeps the end of an incident when it is closed later, and sees what is deleted', async () => {
    at('2026-03-02T10:00:00Z')
    const [first, second, strange] = [fake.world.open(WEB), fake.world.open(WEB), fake.world.open(WEB)]
    at('2026-03-02T10:45:00Z')
    fake.world.resolve(first)
    at('2026-03-09T10:00:00Z')
    fake.world.close(first)
    fake.world.change(strange, { status: 'merged' })
    await run()
    expect(await rows('issues', 'issue_key', 'status', 'original_status', 'lead_time_minutes')).toEqual([
      { issue_key: first.id, status: 'DONE', original_status: 'closed', lead_time_minutes: 45 },
      { issue_key: second.id, status: 'IN_PROGRESS', original_status: 'open', lead_time_minutes: null },
      { issue_key: strange.id, status: 'OTHER', original_status: 'merged', lead_time_minutes: null },
    ])
    fake.world.remove(second)
    await run()
    expect((await rows('issues', 'issue_key')).map(({ issue_key }) => issue_key)).toEqual([first.id, strange.id])
  })

  it('counts an incident for all services that it impacts', async () => {
    const shared = fake.world.open(WEB, { impactedServices: [WEB, API] })
    await run(WEB)
    await run(API)
    const boards = ['API', 'Web shop'].map((_name, index) => `opsgenie:Service:1:${[API, WEB][index]}`)
    expect((await rows('board_issues', 'board_id')).map(({ board_id }) => board_id)).toEqual(boards)
    expect(await rows('_tool_opsgenie_incidents', 'id', 'service_id', 'service_name')).toEqual([
      { id: shared.id, service_id: WEB, service_name: 'Web shop' },
    ])
    fake.world.change(shared, { impactedServices: [API] })
    await run(WEB)
    await run(API)
    expect(await rows('board_issues', 'board_id')).toEqual([{ board_id: `opsgenie:Service:1:${API}` }])
    expect(await rows('issues', 'issue_key')).toHaveLength(1)
  })

  it('says which rights a key lacks', async () => {
    expect(await testOf(test.database, opsgenie)).toMatchObject({ success: true })
    const message = 'You are not authorized to perform this action'
    for (const path of ['/v1/incidents', '/v2/users']) {
      fake.failures.push({ path, status: 403, body: { message }, isLasting: true })
    }
    expect(await testOf(test.database, opsgenie)).toMatchObject({
      success: false,
      message: expect.stringMatching(/Read \(incidents.*Configuration access \(users\)/),
    })
    await run()
    const gaps = await rows('_weir_gaps', 'reason')
    expect(gaps).toHaveLength(2)
    for (const { reason } of gaps) expect(reason).toContain('403')
  })

  it.each([402, 403, 422])('tells of a plan without incidents (%i), and keeps those of before', async (status) => {
    fake.world.open(WEB)
    await run()
    fake.failures.push({ path: '/v1/incidents', status, body: { message: 'not in your plan' }, isLasting: true })
    await run()
    expect(await rows('_weir_gaps', 'reason')).toEqual([{ reason: expect.stringContaining(String(status)) }])
    expect(await rows('issues', 'id')).toHaveLength(1)
    expect(await testOf(test.database, opsgenie)).toMatchObject({
      success: false,
      message: expect.stringContaining('of the plans Standard and Enterprise'),
    })
  })

  it('keeps what it has of a service that is deleted in the middle', async () => {
    fake.world.open(WEB)
    await run()
    fake.world.services.length = 0
    await run()
    expect(await rows('issues', 'id')).toHaveLength(1)
    fake.failures.push({ path: '/v1/incidents', status: 404, isLasting: true })
    await expect(run()).rejects.toThrow(/the service is gone, was renamed, or is hidden/)
    expect(await rows('issues', 'id')).toHaveLength(1)
  })

  it('offers all services, and finds one by a part of its name', async () => {
    for (let number = 0; number < 120; number++) fake.world.addService(`s${number}`, `Service ${number}`)
    const { listed, found, count } = await offered(test.database, opsgenie, 'VICE 11')
    expect(listed).toHaveLength(122)
    expect(found[0]).toMatchObject({ id: 's11', name: 'Service 11', data: { id: 's11', teamId: 'team-web' } })
    expect(count).toBe(11)
  })
})
