/** A GitHub that answers with something else than was asked for, or whose records have other ids than before. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, expect, it } from 'vitest'
import type { Subtask } from '../../src/plugin-kit/spec/subtask.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { SMALL, useFake } from './support/fake.ts'
import { NAME, plugins, runGithub, storedIds } from './support/github.ts'

const OTHER = 'acme/other'
const LISTS = ['issues', 'pullRequests'] as const
const only = ({ name }: Subtask) => /^(collect|extract) ?(api)? ?(issues|pull requests)$/i.test(name)

/** Starts a proxy in front of a fake GitHub that can change requests and answers. */
async function startBefore(url: string) {
  const before = {
    ask: (text: string) => text,
    answer: (text: string) => text,
  }
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString()
    const { authorization = '', accept = '' } = request.headers
    const answer = await fetch(url + before.ask(request.url ?? '/'), {
      method: request.method ?? 'GET',
      headers: { authorization, accept, 'content-type': 'application/json' },
      ...(body && { body: before.ask(body) }),
    })
    const text = before.answer((await answer.text()).replaceAll(url, address()))
    const headers = [...answer.headers].filter(([name]) => /^(content-type|date|link|x-ratelimit-.*)$/.test(name))
    const own = headers.map(([name, value]) => [name, value.replaceAll(url, address())])
    response.sendDate = false
    response.writeHead(answer.status, Object.fromEntries(own)).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return Object.assign(before, { url: address(), stop })
}

/** Gives records other ids, over REST and GraphQL. */
const withOtherIds = (text: string) =>
  text
    .replace(/"(id|fullDatabaseId)":"?(\d{12,})"?/g, (_all, name, id) =>
      name === 'id' ? `"id":${Number(id) + 7}` : `"fullDatabaseId":"${Number(id) + 7}"`,
    )
    .replace(/"id":"(I|PR)_/g, '"id":"$1_again')

describeOneWithTables('records of a GitHub', (test) => {
  const start = useFake(test)
  let stop = async () => {}
  afterEach(() => stop())
  const idsOf = async () => {
    const { issues = [], pullRequests = [] } = await storedIds(test.database)
    return { issues, pullRequests }
  }

  async function startBoth() {
    const repositories = [SMALL, { ...SMALL, name: OTHER }]
    const fake = await start(SMALL, { world: { users: 12, repositories } })
    const before = await startBefore(fake.url)
    stop = before.stop
    await test.database.kysely.updateTable('_tool_github_connections').set({ endpoint: before.url }).execute()
    return { fake, before }
  }

  it.each(plugins)('of another repository are named, and not stored by $name', async (plugin) => {
    const { fake, before } = await startBoth()
    await runGithub(test.database, plugin, { only })
    const stored = await idsOf()
    expect(stored).toMatchObject({ issues: { length: 20 }, pullRequests: { length: 20 } })
    fake.clock.advance(3_600_000)
    fake.update({ repository: OTHER, add: 'issues' })
    fake.update({ repository: OTHER, add: 'pullRequests' })
    before.ask = (text) =>
      text.replace('/repos/acme/web/', '/repos/acme/other/').replace('"name":"web"', '"name":"other"')
    const results = Object.entries(await runGithub(test.database, plugin, { only }))
    const collected = results.filter(([name]) => /^collect/i.test(name))
    expect(collected).toHaveLength(2)
    for (const [name, { remarks }] of collected) {
      expect(remarks?.join(), name).toMatch(/records that do not belong to what was asked for/)
    }
    expect(await idsOf()).toEqual(stored)
  })

  it.each(plugins)('that have other ids are named, and all are as there after a run of $name', async (plugin) => {
    const { fake, before } = await startBoth()
    await runGithub(test.database, plugin, { only })
    const stored = await idsOf()
    fake.clock.advance(3_600_000)
    const repository = fake.world.repository(NAME)
    for (const list of LISTS) {
      const [first] = [...repository[list]]
      fake.update({ repository: NAME, edit: list, index: first?.index ?? 0, with: { title: 'changed' } })
    }
    before.answer = withOtherIds
    const results = Object.entries(await runGithub(test.database, plugin, { only }))
    for (const [name, { remarks }] of results.filter(([name]) => /^collect/i.test(name))) {
      expect(remarks?.join(), name).toMatch(/number \d+ had the id \S+ and has \S+ now/)
    }
    const other = (ids: readonly string[]) => ids.map((id) => String(Number(id) + 7)).sort()
    expect(await idsOf()).toEqual({ issues: other(stored.issues), pullRequests: other(stored.pullRequests) })
  })
})
