import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { describeEachWithTables } from '../support/databases.ts'

const DORA = { plugin: 'dora', subtasks: [], options: { projectName: 'none' } }
const OTHER_KEY = createSecrets('a key that nobody has any more').encrypt('[[{"plugin":"dora"}]]')
/** Truncated, with another key, not a ciphertext, not JSON, or with wrong content. */
const DAMAGES = ['weir1:AAAA', OTHER_KEY, 'garbage', '{"cut', '5', '[5]', '[[{"plugin":1}]]']

describeEachWithTables('a row that cannot be read', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api?.close())
  const damagePlans = (subject: string, id: number, content: string) =>
    sql`update _weir_plans set content = ${content} where subject = ${subject} and subject_id = ${id}`.execute(
      test.database.kysely,
    )

  it('is listed with a sentence beside the others, and can be deleted or given again', async () => {
    const { body: whole } = await api.ask('POST', '/projects', { name: 'whole' })
    for (const damage of DAMAGES) {
      const blueprint = { name: 'advanced', mode: 'ADVANCED', isManual: true, plan: [[DORA]] }
      const { body } = await api.ask('POST', '/projects', { name: 'damaged', blueprint })
      const { id } = body.blueprint
      await damagePlans('blueprint', id, damage)
      expect((await api.ask('GET', '/projects')).body.projects).toMatchObject([{ name: 'damaged' }, { name: 'whole' }])
      const { body: shown } = await api.ask('GET', '/projects/damaged')
      expect(shown.blueprint).toMatchObject({ plan: [], problem: { fields: ['plan'] } })
      expect(shown.blueprint.problem.message).toMatch(/^Unreadable: plan\. \S.*\.$/)
      const [listed, other] = (await api.ask('GET', '/blueprints')).body.blueprints
      expect([listed.problem, other.id]).toEqual([shown.blueprint.problem, whole.blueprint.id])
      expect(other).not.toHaveProperty('problem')
      expect((await api.ask('POST', `/blueprints/${id}/trigger`, {})).status).toBe(400)
      expect((await api.ask('GET', `/v1/blueprints/${id}/plan`)).status).toBe(400)
      expect((await api.ask('PATCH', `/blueprints/${id}`, { name: 'x' })).status).toBe(400)
      const mended = await api.ask('PATCH', `/blueprints/${id}`, { ...listed, plan: [[DORA], [DORA]] })
      expect([mended.status, mended.body.plan.length, mended.body.problem]).toEqual([200, 2, undefined])
      await damagePlans('blueprint', id, damage)
      expect((await api.ask('DELETE', '/projects/damaged')).status).toBe(200)
    }
    const { rows } = await sql`select subject_id from _weir_plans where subject = 'blueprint'`.execute(
      test.database.kysely,
    )
    expect(rows).toEqual([{ subject_id: whole.blueprint.id }])
  })

  it('does not take a plan from a NORMAL blueprint, which is made again', async () => {
    const { body } = await api.ask('POST', '/projects', { name: 'normal' })
    await damagePlans('blueprint', body.blueprint.id, 'garbage')
    const { body: saved } = await api.ask('PATCH', `/blueprints/${body.blueprint.id}`, { name: 'normal again' })
    expect(saved.plan).toHaveLength(1)
    expect(saved).not.toHaveProperty('problem')
    await damagePlans('blueprint', body.blueprint.id, 'garbage')
    const { body: run } = await api.ask('POST', `/blueprints/${body.blueprint.id}/trigger`, {})
    expect(run.totalTasks).toBe(1)
    await api.ask('DELETE', `/pipelines/${run.id}`)
  })

  it('of a run is listed, with its tasks, and can be cancelled', async () => {
    for (const damage of DAMAGES) {
      const { body: run } = await api.ask('POST', '/pipelines', { name: 'damaged', plan: [[DORA]] })
      await damagePlans('pipeline', run.id, damage)
      await sql`update _devlake_tasks set options = ${damage}, subtasks = '5' where pipeline_id = ${run.id}`.execute(
        test.database.kysely,
      )
      const [listed] = (await api.ask('GET', '/pipelines')).body.pipelines
      expect(listed).toMatchObject({ id: run.id, plan: [], problem: { fields: ['plan'] } })
      const { tasks } = (await api.ask('GET', `/pipelines/${run.id}/tasks`)).body
      expect(tasks).toMatchObject([{ plugin: 'dora', options: {}, subtasks: [], problem: { fields: ['options'] } }])
      await api.ask('DELETE', `/pipelines/${run.id}`)
      expect((await api.ask('GET', `/pipelines/${run.id}`)).body.status).toBe('TASK_CANCELLED')
    }
  })

  it('of a connection is listed, and can be deleted', async () => {
    const settings = { name: 'damaged', endpoint: 'http://127.0.0.1:1/', token: 'secret', authMethod: 'AccessToken' }
    const { body } = await api.ask('POST', '/plugins/github/connections', settings)
    await sql`update _tool_github_connections set token = ${OTHER_KEY}`.execute(test.database.kysely)
    const [listed] = (await api.ask('GET', '/plugins/github/connections')).body
    expect(listed).toMatchObject({ name: 'damaged', token: '', problem: { fields: ['token'] } })
    const tested = await api.ask('POST', `/plugins/github/connections/${body.id}/test`, {})
    expect(tested.body.message).toContain('Unreadable: token')
    expect((await api.ask('DELETE', `/plugins/github/connections/${body.id}`)).status).toBe(200)
    expect((await api.ask('GET', '/plugins/github/connections')).body).toEqual([])
  })
})
