/** An alert sends one message when a number goes wrong and one when it is right again, however many servers look and however often. */
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { makeDueDigests } from '../../src/alerts/digest.ts'
import { evaluateDue } from '../../src/alerts/evaluate.ts'
import { sendWaiting } from '../../src/alerts/send.ts'
import { findRow, insertRow, selectRows, updateRows } from '../../src/control-plane/store.ts'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { alertMessages, alerts } from '../../src/system/alerts.ts'
import { pipelines } from '../../src/system/pipelines.ts'
import { FAILED } from '../api/support/contract.ts'
import { SECRET_KEY, startTestApi, type TestApi } from '../api/support/test-api.ts'
import { startCli } from '../support/cli.ts'
import { CLOSED } from '../support/closed-addresses.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startReceiver } from './receiver.ts'
import { day, plantShop } from './shop.ts'

/** The address at which people open the pages. */
const PAGES = 'https://weir.example'
const SECRET = 'the secret that signs messages'
const MINUTE = 60_000

/** Returns the example of this type in docs/alerts.md. */
function documented(type: string): object {
  const text = readFileSync(join(import.meta.dirname, '../../docs/alerts.md'), 'utf8')
  const examples = [...text.matchAll(/```json\n(.*?)```/gs)].map(([, json]) => JSON.parse(json as string))
  return examples.find((each) => each.type === type)
}
/** Returns the names of fields. A list is represented by its first element. */
const fieldsOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length > 0 && typeof value[0] === 'object' ? [fieldsOf(value[0])] : 'list'
  if (value === null || typeof value !== 'object') return 'value'
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fieldsOf(each)]))
}

describeEachWithTables('alerts', (test) => {
  let api: TestApi
  let other: Database
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  beforeAll(async () => {
    api = await startTestApi(test.database)
    other = await openDatabase(test.url)
    receiver = await startReceiver()
    await api.ask('POST', '/projects', { name: 'shop' })
    await plantShop(test.database)
  })
  afterAll(async () => {
    await api.close()
    await other.close()
    await receiver.stop()
  })
  afterEach(async () => {
    receiver.received.length = 0
    receiver.answerWith(200)
    for (const { id } of (await api.ask('GET', '/v1/alerts')).body.alerts) await api.ask('DELETE', `/v1/alerts/${id}`)
  })

  /** Two servers on one database. */
  const servers = () => {
    const { secrets, log, plugins } = api.control.context
    return [
      { database: test.database, plugins, secrets, log, publicUrl: PAGES },
      { database: other, plugins, secrets, log, publicUrl: PAGES },
    ] as const
  }
  const everywhere = (work: (server: ReturnType<typeof servers>[number]) => Promise<unknown>) =>
    Promise.all(servers().map(work))
  async function lookAt(now: Date) {
    await everywhere((server) => evaluateDue(server, now))
    await everywhere((server) => makeDueDigests(server, now))
    await everywhere((server) => sendWaiting(server, now))
  }
  const webhook = () => ({ kind: 'webhook', url: `${receiver.url}hooks?token=hidden`, secret: SECRET })
  const rate = () => ({
    kind: 'threshold',
    name: 'too many failures',
    project: 'shop',
    metric: 'change-failure-rate',
    direction: 'above',
    threshold: 0.15,
    windowDays: 7,
    forDays: 14,
    target: webhook(),
  })
  const create = async (settings: object) => {
    const { status, body } = await api.ask('POST', '/v1/alerts', settings)
    expect(status, JSON.stringify(body)).toBe(201)
    return body
  }
  const one = async (id: number) => (await api.ask('GET', '/v1/alerts')).body.alerts.find((each: any) => each.id === id)

  it('tell once when it has been so for that long, and once when it has recovered', async () => {
    const { id } = await create(rate())
    const states: string[] = []
    for (const number of [35, 45, 50, 60, 61, 70, 83, 95, 96]) {
      await lookAt(day(number))
      states.push(`${number} ${(await one(id)).state} ${receiver.received.length}`)
    }
    expect(states).toEqual([
      '35 fine 0',
      '45 pending 0',
      '50 pending 0',
      '60 broken 1',
      '61 broken 1',
      '70 broken 1',
      '83 broken 1',
      '95 fine 2',
      '96 fine 2',
    ])
    const [broken, recovered] = receiver.received
    expect(broken?.body).toMatchObject({
      type: 'alert.broken',
      project: 'shop',
      metric: 'change-failure-rate',
      unit: 'share',
      value: 1,
      threshold: 0.15,
      windowDays: 7,
      forDays: 14,
      alert: { id, name: 'too many failures' },
      text: 'shop: Change failure rate is 100 % over the last 7 days, above 15 % for 14 days. Change failure rate is 100 %, as before.',
    })
    expect(fieldsOf(broken?.body)).toEqual(fieldsOf(documented('alert.broken')))
    // The link leads to the same number, with the same time range.
    const { origin, pathname, searchParams } = new URL(broken?.body.link)
    expect([origin, pathname]).toEqual([PAGES, '/dashboards/dora'])
    const { from, to, explain, 'var-project': project } = Object.fromEntries(searchParams)
    expect({ explain, project, from, to }).toEqual({
      explain: 'change-failure-rate',
      project: 'shop',
      from: day(53).toISOString(),
      to: day(60).toISOString(),
    })
    const asked = new URLSearchParams({ project: project ?? '', from: from ?? '', to: to ?? '' })
    const { body: number } = await api.ask('GET', `/v1/metrics/${explain}?${asked}`)
    expect(number.values[0].value).toBe(broken?.body.value)
    expect(recovered?.body).toMatchObject({ type: 'alert.recovered', value: 0 })
    expect(recovered?.body.text).toBe(
      'shop: Change failure rate is 0 % over the last 7 days, no longer above 15 %. Change failure rate is 0 %, as before.',
    )
    for (const { path, headers, text } of receiver.received) {
      expect(path).toBe('/hooks?token=hidden')
      const signed = `${headers['x-weir-timestamp']}.${text}`
      const signature = createHmac('sha256', SECRET).update(signed).digest('hex')
      expect(headers['x-weir-signature']).toBe(`sha256=${signature}`)
    }
  })

  it('are looked at after each run of the project, and once an hour', async () => {
    const { id } = await create(rate())
    const begin = day(20)
    await lookAt(begin)
    const lookedAt = async () => new Date((await one(id)).lookedAt).getTime() - begin.getTime()
    await lookAt(new Date(begin.getTime() + 10 * MINUTE))
    expect(await lookedAt()).toBe(0)
    const { blueprint } = (await api.ask('GET', '/projects/shop')).body
    const finished_at = new Date(begin.getTime() + 11 * MINUTE)
    await insertRow(test.database.kysely, pipelines, {
      blueprint_id: blueprint.id,
      status: 'TASK_COMPLETED',
      finished_at,
    })
    await lookAt(new Date(begin.getTime() + 12 * MINUTE))
    expect(await lookedAt()).toBe(12 * MINUTE)
    await lookAt(new Date(begin.getTime() + 60 * MINUTE))
    expect(await lookedAt()).toBe(12 * MINUTE)
    await lookAt(new Date(begin.getTime() + 72 * MINUTE))
    expect(await lookedAt()).toBe(72 * MINUTE)
  })

  it('say nothing where there is no value, or where they are switched off', async () => {
    await api.ask('POST', '/projects', { name: 'quiet' })
    const quiet = await create({ ...rate(), project: 'quiet' })
    const off = await create({ ...rate(), enable: false })
    await lookAt(day(60))
    expect(await one(quiet.id)).toMatchObject({ state: 'no data', value: null })
    expect(await one(off.id)).toMatchObject({ state: 'unknown', lookedAt: null })
    expect(receiver.received).toEqual([])
    expect((await api.ask('PATCH', `/v1/alerts/${off.id}`, { enable: true })).status).toBe(200)
    await lookAt(day(61))
    expect(receiver.received).toHaveLength(1)
    await api.ask('DELETE', '/projects/quiet')
    expect(await one(quiet.id)).toBeUndefined()
  })

  it('send again what was not taken, later and later, and give up in the end', async () => {
    const { id } = await create({ ...rate(), forDays: 0 })
    receiver.answerWith(500)
    let now = day(60).getTime()
    await lookAt(new Date(now))
    expect((await one(id)).lastMessage).toMatchObject({ kind: 'broken', state: 'waiting', attempts: 1 })
    await everywhere((server) => sendWaiting(server, new Date(now + MINUTE / 2)))
    expect(receiver.received).toHaveLength(1)
    for (let attempt = 0; attempt < 12; attempt++) {
      now += MINUTE * 2 ** attempt + 1
      await everywhere((server) => sendWaiting(server, new Date(now)))
    }
    const { lastMessage } = await one(id)
    expect(lastMessage).toMatchObject({ state: 'failed', attempts: 9 })
    expect(lastMessage.failure).toContain('500')
    expect(lastMessage.failure).not.toContain('hidden')
    expect(receiver.received).toHaveLength(9)
    expect(new Set(receiver.received.map(({ body }) => body.id)).size).toBe(1)
  })

  it('outlive a server that is killed: nothing is lost, and what was under way comes again with the same id', {
    timeout: 120_000,
  }, async () => {
    const { id } = await create({ ...rate(), forDays: 0 })
    await evaluateDue(servers()[0], day(60))
    expect(await selectRows(test.database.kysely, alertMessages)).toMatchObject([{ alert_id: id, state: 'waiting' }])
    await updateRows(test.database.kysely, alerts, { id }, { looked_at: new Date() })
    receiver.answerWith(null)
    const arrived = receiver.next()
    const begun = Date.now()
    const cli = startCli(['up'], {
      DB_URL: test.url,
      DATA_FOLDER: api.dataFolder,
      ENCRYPTION_SECRET: SECRET_KEY,
      PORT: '0',
      LOGGING_LEVEL: 'silent',
    })
    await Promise.race([arrived, cli.ended.then(() => Promise.reject(new Error(cli.output() + cli.errors())))])
    cli.kill('SIGKILL')
    await cli.ended
    receiver.answerWith(200)
    await everywhere((server) => sendWaiting(server, new Date(begun)))
    expect(receiver.received).toHaveLength(1)
    await everywhere((server) => sendWaiting(server, new Date(Date.now() + 3 * MINUTE)))
    expect(receiver.received).toHaveLength(2)
    expect(new Set(receiver.received.map(({ body }) => body.id)).size).toBe(1)
    expect((await one(id)).lastMessage).toMatchObject({ state: 'sent', attempts: 2 })
  })

  it('digests come once a week with what changed and why, to Slack as text', async () => {
    const target = { kind: 'slack', url: `${receiver.url}services/T0/B0/hidden` }
    const digest = { kind: 'digest', name: 'weekly', project: 'shop', weekday: 'monday', hour: 8, target }
    const { id } = await create(digest)
    // The first day is a Monday.
    await updateRows(test.database.kysely, alerts, { id }, { looked_at: day(35, 9) })
    await lookAt(day(42, 7))
    expect(receiver.received).toEqual([])
    await lookAt(day(42, 8))
    await lookAt(day(43))
    expect(receiver.received).toHaveLength(1)
    expect(receiver.received[0]?.body).toEqual({ text: expect.any(String) })
    const lines = receiver.received[0]?.body.text.split('\n')
    expect(lines[0]).toBe('*How shop did, 2026-02-09 to 2026-02-16*')
    expect(lines.slice(1, -1)).toEqual([
      '• There is no lead time: no pull requests are collected.',
      '• Deployment frequency is 7 deployments in 2 weeks, as before.',
      '• Recovery time is 3 h.',
      '• Change failure rate is 28.6 % against 0 % before: the difference may be chance.',
      '• Rework rate is 0 %, as before.',
      '• There are two incidents.',
    ])
    expect(lines.at(-1)).toBe(`${PAGES}/projects/shop`)
    // The servers were away for three weeks: one digest is sent, about the week that has just ended.
    await lookAt(day(64))
    expect(receiver.received).toHaveLength(2)
    expect(receiver.received[1]?.body.text).toContain('2026-03-03 to 2026-03-10')
  })

  it('digests of all projects name each, and can be tried at once', async () => {
    const { id } = await create({ kind: 'digest', name: 'all', target: webhook() })
    const { blueprint } = (await api.ask('GET', '/projects/shop')).body
    const failed = { blueprint_id: blueprint.id, status: 'TASK_FAILED' as const, finished_at: new Date() }
    await insertRow(test.database.kysely, pipelines, failed)
    const { body } = await api.ask('POST', `/v1/alerts/${id}/test`)
    expect(body).toEqual({ isTaken: true, responseCode: 200, failure: '' })
    const [digest] = receiver.received
    expect(digest?.body).toMatchObject({ type: 'digest', project: null })
    const [own] = digest?.body.projects ?? []
    expect(own.attention).toMatchObject([{ sentence: 'The last run of shop failed.' }])
    // Nothing was deployed this week, so no key has a change.
    const keys = own.keys.map((key: object) => ({
      ...key,
      change: { amount: 0, mayBeChance: true, direction: 'none' },
    }))
    const sent = { ...digest?.body, projects: [{ ...own, keys }] }
    expect(fieldsOf(sent)).toEqual(fieldsOf(documented('digest')))
    expect(receiver.received[0]?.body.text).toContain('*shop*')
    const alert = await create(rate())
    receiver.answerWith(404)
    const refused = await api.ask('POST', `/v1/alerts/${alert.id}/test`)
    expect(refused.body).toMatchObject({ isTaken: false, failure: expect.stringContaining('404') })
    expect(receiver.received[1]?.body).toMatchObject({ type: 'alert.test' })
    expect((await one(alert.id)).lastMessage).toMatchObject({ kind: 'test', state: 'failed' })
  })

  it('can be changed; secrets show up nowhere', async () => {
    const { id, ...made } = await create(rate())
    expect(made.target).toEqual({ kind: 'webhook', address: `${receiver.url}…`, hasSecret: true })
    const { address, kind } = made.target
    const changed = await api.ask('PATCH', `/v1/alerts/${id}`, { threshold: 0.3, target: { kind, url: address } })
    expect(changed.body).toMatchObject({ threshold: 0.3, thresholdInWords: '30 %', target: made.target })
    await api.ask('POST', `/v1/alerts/${id}/test`)
    expect(receiver.received.at(-1)?.path).toBe('/hooks?token=hidden')
    const row = await findRow(test.database.kysely, alerts, { id })
    const { rows: entries } = await sql`select * from _weir_audit_entries`.execute(test.database.kysely)
    const listed = (await api.ask('GET', '/v1/alerts')).text
    for (const text of [JSON.stringify(row), JSON.stringify(entries), listed, api.log()]) {
      expect(text).not.toContain(SECRET)
      expect(text).not.toContain('token=hidden')
    }
    expect(JSON.stringify(entries)).toContain('too many failures')
    await api.ask('PATCH', '/projects/shop', { name: 'store' })
    expect(await one(id)).toMatchObject({ project: 'store' })
    await api.ask('PATCH', '/projects/store', { name: 'shop' })
  })

  it('a target that redirects is not followed, wherever to', async () => {
    const { id } = await create(rate())
    for (const to of ['http://169.254.169.254/', 'http://localhost:9/', `${receiver.url}elsewhere`]) {
      receiver.answerWith(307, { location: to })
      const { body } = await api.ask('POST', `/v1/alerts/${id}/test`)
      expect([body.isTaken, body.failure], to).toEqual([false, expect.stringMatching(/redirect/)])
    }
    expect(receiver.received.map(({ path }) => path)).toEqual(Array(3).fill('/hooks?token=hidden'))
  })

  it('bad input is answered with what to change, and changes nothing', async () => {
    const wrong: [object, RegExp][] = [
      [{ ...rate(), metric: 'change-failure-rat' }, /did you mean change-failure-rate/],
      [{ ...rate(), project: 'shpo' }, /did you mean shop/],
      [{ ...rate(), threshold: 15 }, /0.15 for 15 %/],
      [{ ...rate(), direction: 'over' }, /direction/],
      [{ ...rate(), windowDays: 0 }, /windowDays/],
      [{ ...rate(), name: ' ' }, /name/],
      [{ ...rate(), threshold: undefined }, /Add threshold: every alert/],
      [{ ...rate(), hour: 3 }, /hour is not used/],
      [{ ...rate(), target: { ...webhook(), secret: 'short' } }, /target.secret/],
      [{ ...rate(), target: { ...webhook(), url: 'ftp://x.test/' } }, /target.url/],
      ...CLOSED.map(([url, says]): [object, RegExp] => [{ ...rate(), target: { ...webhook(), url } }, says]),
      [{ kind: 'digest', name: 'x', weekday: 'someday', target: webhook() }, /weekday/],
      [{ kind: 'digest', name: 'x', metric: 'change-lead-time', target: webhook() }, /metric is not used/],
      [{ kind: 'sometimes', name: 'x', target: webhook() }, /kind/],
    ]
    for (const [settings, message] of wrong) {
      const { status, body } = await api.ask('POST', '/v1/alerts', settings)
      expect([400, 404], JSON.stringify(settings)).toContain(status)
      expect(body).toMatchObject(FAILED)
      expect(body.message).toMatch(message)
    }
    expect((await api.ask('GET', '/v1/alerts')).body.alerts).toEqual([])
    expect((await api.ask('PATCH', '/v1/alerts/999', {})).status).toBe(404)
    expect((await api.ask('DELETE', '/v1/alerts/999')).status).toBe(404)
    expect((await api.ask('POST', '/v1/alerts/999/test')).status).toBe(404)
  })
})
