/** An answer says in sentences what its numbers say, and how sure they are. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { updateRows } from '../../src/control-plane/store.ts'
import { write } from '../../src/database/write.ts'
import type { Sentence } from '../../src/metrics/answer/answer.ts'
import { textOf } from '../../src/metrics/answer/say.ts'
import { POLICIES } from '../../src/metrics/policy/policy.ts'
import { gaps } from '../../src/plugin-kit/raw/gaps.ts'
import { receipts } from '../../src/plugin-kit/raw/receipts.ts'
import { pipelines } from '../../src/system/pipelines.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { calculate } from '../metrics/calculate.ts'
import { DAY, plantOrganisation, START } from '../metrics/organisation.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { GRAMMARS, wrongClauses } from './clause-grammar.ts'

const STEPS = 40
const { rows, truths } = plantOrganisation(2, STEPS)
const PROJECTS = truths.map(({ project }) => project)
const dayAt = (days: number) => new Date(START + days * DAY).toISOString()

describeEachDatabase('how sure an answer is', (test) => {
  let api: TestApi
  const project = PROJECTS[0] as string
  const answer = async (query: Record<string, string>) => {
    const shared = { project, from: dayAt(20), to: dayAt(40) }
    const { status, body } = await api.ask('GET', `/v1/answer?${new URLSearchParams({ ...shared, ...query })}`)
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }
  beforeAll(async () => {
    api = await startTestApi(test.database)
    await write(test.database, rows)
    for (const each of PROJECTS) await calculate(test.database, each)
  })
  afterAll(() => api.close())

  it('its sentences are true of its numbers, for every project, policy and range', async () => {
    const questions = [
      ...POLICIES.map(({ name }) => ({ project, policy: name })),
      ...PROJECTS.map((each) => ({ project: each, from: dayAt(0), to: dayAt(3) })),
      { project, from: dayAt(400), to: dayAt(410) },
    ]
    for (const question of questions) {
      const own = await answer(question)
      const said = [
        ...own.sentence.map((sentence: Sentence) => ['sentence', sentence]),
        ...Object.entries(own.findings),
      ] as [keyof typeof GRAMMARS, Sentence][]
      expect(own.sentence.length).toBeGreaterThan(0)
      for (const [kind, sentence] of said) {
        const text = textOf(sentence)
        expect(wrongClauses(text, GRAMMARS[kind], own), `${kind}: ${text}`).toEqual([])
      }
    }
  })

  it('the items of a figure are as many as it says', async () => {
    const { sentence, findings } = await answer({})
    const figures = [...sentence, ...Object.values(findings)].flat().filter((piece: any) => typeof piece !== 'string')
    expect(figures.length).toBeGreaterThan(3)
    for (const { figure, items } of figures) {
      const { status, body } = await api.ask('GET', items)
      expect(status, items).toBe(200)
      const [, some] = /^([\d,]+) of [\d,]+$/.exec(figure) ?? []
      if (some && items.includes('reason=against')) expect(body.count).toBe(Number(some.replace(',', '')))
    }
  })

  it('what does not count adds up, with the reasons of the explanation and a remedy for each', async () => {
    const { sure } = await answer({})
    expect(sure.counted.map(({ material }: any) => material)).toEqual(['pull requests', 'deployments', 'incidents'])
    for (const { counted, total, leftOut } of sure.counted) {
      expect(leftOut.reduce((sum: number, { count }: any) => sum + count, counted)).toBe(total)
      for (const { remedy } of leftOut) expect(remedy).toMatch(/\w/)
    }
    const query = new URLSearchParams({ project, from: dayAt(20), to: dayAt(40) })
    const { body } = await api.ask('GET', `/v1/metrics/change-lead-time/explanation?${query}`)
    const [changes] = sure.counted
    const reasons = new Map(body.leftOut.map(({ reason, count }: any) => [reason, count]))
    for (const { reason, count } of changes.leftOut) expect([reason, count]).toEqual([reason, reasons.get(reason)])
    expect(changes.counted).toBe(body.counted)
  })

  it('names the policy in force, gaps of collection and the last collection, and is less sure with a gap', async () => {
    const policies = async (policy: string) =>
      (await answer({ policy })).sure.rules.filter(({ rule }: any) => rule === 'Policy').map(({ value }: any) => value)
    expect(await policies('project')).toEqual(['The usual one: a rollout counts once.'])
    expect(await policies('no-bots')).toEqual(['Pull requests of bots are left out.'])
    const before = (await answer({})).sure
    expect(before).toMatchObject({ gaps: [], collectedAt: null })

    const { body: made } = await api.ask('POST', '/plugins/github/connections', {
      name: 'main',
      endpoint: 'https://api.github.com/',
      authMethod: 'AccessToken',
      token: 'ghp_secret',
    })
    const scope = { githubId: 7, name: 'web', fullName: 'acme/web' }
    await api.ask('PUT', `/plugins/github/connections/${made.id}/scopes`, { data: [scope] })
    const { body: own } = await api.ask('POST', '/projects', { name: project })
    const connections = [{ pluginName: 'github', connectionId: made.id, scopes: [{ scopeId: '7' }] }]
    await api.ask('PATCH', `/blueprints/${own.blueprint.id}`, { connections })
    const plan = [[{ plugin: 'dora', options: { projectName: project } }]]
    const { body: run } = await api.ask('POST', '/pipelines', { name: 'x', plan, blueprintId: own.blueprint.id })
    const finished_at = new Date(dayAt(40))
    await updateRows(test.database.kysely, pipelines, { id: run.id }, { status: 'TASK_COMPLETED', finished_at })
    const of = { plugin: 'github', params: JSON.stringify({ ConnectionId: made.id, Name: 'acme/web' }) }
    const list = (name: string, status: string) =>
      receipts.row({ ...of, raw_table: `_raw_github_api_${name}`, status, subtask: 'collectApiPullRequests' })
    await write(test.database, [
      list('pull_requests', 'gap'),
      ...['issues', 'runs', 'jobs', 'commits'].map((name) => list(name, 'complete')),
      gaps.row({
        ...of,
        raw_table: '_raw_github_api_pull_requests',
        list: '',
        kind: 'lost',
        reason: 'The source refuses this list.\nsecond line',
        since: new Date(dayAt(30)),
        attempts: 1,
      }),
    ])
    const { sure, findings } = await answer({})
    expect(sure.gaps).toEqual([
      { from: dayAt(30), to: dayAt(40), what: 'pull requests of acme/web', why: 'The source refuses this list.' },
    ])
    expect(sure.collectedAt).toBe(dayAt(40))
    expect(sure.confidence).toBe('low')
    expect(sure.because).toMatch(/^1 of 5 lists did not come whole/)
    expect(textOf(findings.sure)).toMatch(/; one part is missing$/)
    // The assumed rules of the scope are in force.
    expect(sure.rules).toContainEqual({
      rule: 'Environments that are production',
      value: expect.stringMatching(/prod/),
      page: `/sources/github/${made.id}/rules/new?project=${encodeURIComponent(project)}`,
    })
    // A gap that began after the range is none of its gaps.
    expect((await answer({ to: dayAt(29) })).sure.gaps).toEqual([])
  })
})
