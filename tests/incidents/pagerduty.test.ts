/** PagerDuty over HTTP, from an empty database to the four keys, and its possible problems. */
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits } from '../../src/domain/devops.ts'
import { teams, teamUsers, userAccounts } from '../../src/domain/people.ts'
import { metricNamed } from '../../src/metrics/index.ts'
import { REFERENCE } from '../../src/metrics/policy/policy.ts'
import { readMetric } from '../../src/metrics/read/read.ts'
import { issuesOf } from '../../src/metrics/sources.ts'
import { pagerduty } from '../../src/plugins/pagerduty/plugin.ts'
import { type FakePagerduty, startFakePagerduty, TOKEN } from '../fake-pagerduty/fake-pagerduty.ts'
import type { FakeIncident, FakeService } from '../fake-pagerduty/world.ts'
import { calculate } from '../metrics/calculate.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { addService, connect, offered, rowsOf, runService, testOf } from './support.ts'

const WEB = 'PWEB'
const DAY = 24 * 60 * 60 * 1000

describeOneWithTables('collecting from PagerDuty', (test) => {
  let fake: FakePagerduty
  let web: FakeService
  const at = (time: number | string) => {
    fake.world.now = () => new Date(time)
  }
  beforeEach(async () => {
    fake = await startFakePagerduty()
    web = fake.world.addService(WEB, 'Web shop')
    await connect(test.database, pagerduty, fake.url, TOKEN)
    await addService(test.database, pagerduty, WEB, 'old name')
  })
  afterEach(() => fake.stop())
  const run = () => runService(test.database, pagerduty, WEB)
  const rows = (table: string, ...columns: string[]) => rowsOf(test.database, table, ...columns)

  it('brings every page, waits where it has to, and asks later only for what is new', async () => {
    const start = Date.now() - 400 * DAY
    for (let number = 0; number < 250; number++) {
      at(start + number * DAY)
      const incident = fake.world.trigger(web, { user: number })
      if (number < 248) fake.world.resolve(incident)
    }
    const [, open] = fake.world.incidents.slice(-2)
    at(Date.now() - 3_600_000)
    fake.remaining = 3
    await run()
    const issues = await rows('issues', 'id', 'status', 'type', 'lead_time_minutes')
    expect(issues).toHaveLength(250)
    expect(issues.filter(({ status }) => status === 'TODO')).toHaveLength(2)
    expect(issues.every(({ type }) => type === 'INCIDENT')).toBe(true)
    expect(await rows('boards', 'id', 'name')).toEqual([{ id: `pagerduty:Service:1:${WEB}`, name: 'Web shop' }])
    expect(await rows('board_issues', 'board_id')).toHaveLength(250)
    expect(await rows('accounts', 'full_name')).toEqual([{ full_name: 'Ada' }, { full_name: 'Cleo' }])
    expect(await rows('teams', 'name')).toEqual([{ name: 'Data' }, { name: 'Web' }])
    expect(await rows('_weir_gaps', 'reason')).toEqual([])
    fake.requests.length = 0
    if (open) fake.world.resolve(open)
    await run()
    expect((await rows('issues', 'id', 'status')).filter(({ status }) => status === 'TODO')).toHaveLength(1)
    expect(fake.requests.length).toBeLessThanOrEqual(5)
  })

  it('cuts the time of a service that has more incidents than PagerDuty lists', async () => {
    const start = Date.now() - 300 * DAY
    at(start)
    const { teams: _, ...first } = fake.world.trigger(web)
    for (let number = 2; number <= 10_050; number++) {
      const created_at = new Date(start + number * 40 * 60_000).toISOString()
      const times = { created_at, updated_at: created_at, last_status_change_at: created_at }
      const own = { id: `Q${number}`, incident_number: number, status: 'resolved', assignments: [], teams: [] }
      fake.world.incidents.push({ ...first, ...own, ...times })
    }
    at(Date.now() - 3_600_000)
    await run()
    const { rows: counted } = await sql<{ count: number }>`select count(*) as count from issues`.execute(
      test.database.kysely,
    )
    expect(Number(counted[0]?.count)).toBe(10_050)
    expect(await rows('_weir_gaps', 'reason')).toEqual([])
    expect(fake.requests.some((address) => address.includes('since='))).toBe(true)
    // 101 pages, and not one request for each half year since PagerDuty exists.
    expect(fake.requests.length).toBeLessThan(115)
  })

  it('asks for a long time at once, and takes nothing that is older than the start date', async () => {
    const start = Date.parse('2012-01-01T00:00:00Z')
    for (let number = 0; number < 417; number++) {
      at(start + number * 12 * DAY)
      fake.world.resolve(fake.world.trigger(web))
    }
    at(Date.now() - 3_600_000)
    const timeAfter = new Date(start + 100 * 12 * DAY)
    const task = { options: { connectionId: 1, serviceId: WEB }, signal: AbortSignal.timeout(60_000) }
    for (const subtask of pagerduty.subtasks.filter(({ isDefault }) => isDefault)) {
      await subtask.run({ ...task, database: test.database, timeAfter, fullSync: false, progress: () => {} })
    }
    expect(await rows('issues', 'id')).toHaveLength(317)
    expect(await rows('_weir_gaps', 'reason')).toEqual([])
    // The service, the number of incidents, and four pages.
    expect(fake.requests.length).toBeLessThanOrEqual(6)
  })

  it('names everybody who has an incident once, by an account', async () => {
    const [alone, both, done] = [0, 1, 2].map((user) => fake.world.trigger(web, { user })) as FakeIncident[]
    fake.world.addResponder(both as FakeIncident, 2)
    fake.world.resolve(done as FakeIncident)
    await run()
    const mapping = (table: string, row_id: string) => projectMapping.row({ project_name: 'shop', table, row_id })
    await write(test.database, [
      mapping('boards', `pagerduty:Service:1:${WEB}`),
      teams.row({ id: 'night', name: 'Night' }),
      userAccounts.row({ account_id: 'pagerduty:User:1:PUSER1', user_id: 'bo' }),
      // Smaller teams have no numbers.
      ...['bo', 'b', 'c', 'd', 'e'].map((user_id) => teamUsers.row({ team_id: 'night', user_id })),
    ])
    await calculate(test.database, 'shop')
    const [first, second] = [alone, both].map((each) => `pagerduty:Incident:1:${each?.incident_number}`)
    const people = await rows('incident_assignees', 'assignee_id', 'assignee_name', 'incident_id')
    expect(people).toEqual([
      { assignee_id: 'pagerduty:User:1:PUSER0', assignee_name: 'Ada', incident_id: first },
      { assignee_id: 'pagerduty:User:1:PUSER1', assignee_name: 'Bo', incident_id: second },
      { assignee_id: 'pagerduty:User:1:PUSER2', assignee_name: 'Cleo', incident_id: second },
    ])
    const accounts = new Set((await rows('accounts', 'id')).map(({ id }) => id))
    const incidents = await rows('incidents', 'id', 'assignee_id')
    expect(incidents.map(({ assignee_id }) => assignee_id)).toEqual([
      'pagerduty:User:1:PUSER0',
      'pagerduty:User:1:PUSER1',
      '',
    ])
    expect(people.every(({ assignee_id }) => accounts.has(assignee_id))).toBe(true)
    // In `issues` the assignee is PagerDuty's id, as in DevLake. Readers still find the account.
    expect((await rows('issues', 'id', 'assignee_id')).map(({ assignee_id }) => assignee_id)).toEqual([
      'PUSER0',
      'PUSER1',
      '',
    ])
    const range = { from: new Date(Date.now() - DAY), to: new Date(Date.now() + DAY) }
    const filter = { project: 'shop', environment: 'PRODUCTION', policy: REFERENCE, team: 'night', ...range }
    const { from, where } = issuesOf(filter)
    const { rows: ofTeam } = await sql<{ id: string }>`select i.id ${from} where ${where}`.execute(test.database.kysely)
    expect(ofTeam).toEqual([{ id: second }])
  })

  it('takes unknown states, and records without people, service address or priority', async () => {
    const strange = fake.world.trigger(web)
    fake.world.setStatus(strange, 'paused')
    const bare = fake.world.trigger(web) as any
    for (const name of ['assignments', 'incidents_responders', 'teams', 'priority', 'urgency']) delete bare[name]
    fake.world.addResponder(fake.world.trigger(web, { user: 1 }), 2)
    await run()
    expect(await rows('issues', 'issue_key', 'status', 'original_status', 'assignee_name')).toEqual([
      { issue_key: '1', status: 'OTHER', original_status: 'paused', assignee_name: 'Ada' },
      { issue_key: '2', status: 'TODO', original_status: 'triggered', assignee_name: '' },
      { issue_key: '3', status: 'TODO', original_status: 'triggered', assignee_name: 'Bo' },
    ])
    const people = await rows('issue_assignees', 'assignee_name', 'issue_id')
    expect(people.filter(({ issue_id }) => issue_id.endsWith(':3')).map((each) => each.assignee_name)).toEqual([
      'Bo',
      'Cleo',
    ])
    expect(await rows('_weir_quarantine', 'params')).toEqual([])
  })

  it('says which right a key lacks, and that the address is not that of PagerDuty', async () => {
    expect(await testOf(test.database, pagerduty)).toMatchObject({ success: true })
    fake.failures.push({
      path: '/incidents',
      status: 403,
      body: { error: { message: 'Access Denied' } },
      isLasting: true,
    })
    expect(await testOf(test.database, pagerduty)).toMatchObject({
      success: false,
      message: expect.stringContaining('may not read incidents'),
    })
    await run()
    expect(await rows('_weir_gaps', 'reason')).toEqual([{ reason: expect.stringContaining('403') }])
    fake.failures.splice(0, 1, { path: '/services', status: 200, body: { id: 1 }, isLasting: true })
    await expect(testOf(test.database, pagerduty)).rejects.toThrow(/does not answer as PagerDuty does/)
  })

  it('tells of an account whose plan lacks the API, and keeps what it has', async () => {
    fake.world.prioritise(fake.world.trigger(web), 0)
    await run()
    const body = { error: { message: 'Account does not have the abilities to perform the action', code: 2012 } }
    fake.failures.push({ path: '/incidents', status: 402, body, isLasting: true })
    await run()
    expect(await rows('_weir_gaps', 'reason')).toEqual([{ reason: expect.stringContaining('402') }])
    expect(await rows('issues', 'priority')).toEqual([{ priority: 'P1' }])
    expect(await testOf(test.database, pagerduty)).toMatchObject({ success: false })
  })

  it('keeps what it has of a service that is deleted in the middle', async () => {
    fake.world.trigger(web)
    await run()
    fake.world.services.length = 0
    await run()
    expect(await rows('issues', 'id')).toHaveLength(1)
    fake.failures.push({ path: '/incidents', status: 404, isLasting: true })
    await expect(run()).rejects.toThrow(/the service is gone, was renamed, or is hidden/)
    expect(await rows('issues', 'id')).toHaveLength(1)
  })

  it('offers all services, and finds one by a part of its name', async () => {
    for (let number = 0; number < 120; number++) fake.world.addService(`P${number}`, `Service ${number}`)
    const { listed, found, count } = await offered(test.database, pagerduty, 'vice 11')
    expect(listed).toHaveLength(121)
    expect(listed[0]).toMatchObject({ id: WEB, name: 'Web shop', data: { id: WEB, url: web.html_url } })
    expect(found.map(({ name }) => name)).toEqual([
      'Service 11',
      ...Array.from({ length: 9 }, (_, n) => `Service 11${n}`),
    ])
    expect(count).toBe(11)
  })

  it('gives a project its change failure rate and recovery time', async () => {
    const deployments = ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04'].map((day, number) => ({
      id: `d${number}`,
      cicd_deployment_id: `d${number}`,
      cicd_scope_id: 'scope',
      name: 'deploy',
      commit_sha: 'c',
      result: 'SUCCESS',
      status: 'DONE',
      environment: 'PRODUCTION',
      repo_url: 'https://git.example.org/web',
      created_date: new Date(day),
      started_date: new Date(day),
      finished_date: new Date(day),
    }))
    const mapping = (table: string, row_id: string) => projectMapping.row({ project_name: 'shop', table, row_id })
    await write(test.database, [
      ...deployments.map((each) => cicdDeploymentCommits.row(each)),
      mapping('cicd_scopes', 'scope'),
      mapping('boards', `pagerduty:Service:1:${WEB}`),
    ])
    at('2026-03-02T10:00:00Z')
    const incident = fake.world.trigger(web)
    at('2026-03-02T11:30:00Z')
    fake.world.resolve(incident)
    await run()
    await calculate(test.database, 'shop')
    expect(await rows('project_incident_deployment_relationships', 'id', 'deployment_id')).toEqual([
      { id: 'pagerduty:Incident:1:1', deployment_id: 'd1' },
    ])
    const range = { from: new Date('2026-02-01'), to: new Date('2026-04-01') }
    const filter = { project: 'shop', environment: 'PRODUCTION', policy: REFERENCE, ...range }
    expect(await readMetric(test.database, metricNamed('change-failure-rate'), filter)).toMatchObject({ value: 0.25 })
    expect(await readMetric(test.database, metricNamed('failed-deployment-recovery-time'), filter)).toMatchObject({
      value: 690,
    })
  })
})
