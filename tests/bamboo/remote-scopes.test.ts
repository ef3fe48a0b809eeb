import { expect, it } from 'vitest'
import { openAwaitedClient } from '../../src/plugin-kit/task/connection.ts'
import { bamboo } from '../../src/plugins/bamboo/plugin.ts'
import { PASSWORD, startFakeBamboo, USER } from '../fake-bamboo/fake-bamboo.ts'

it('plans are listed by project, through all pages, and found by name', async () => {
  const fake = await startFakeBamboo()
  fake.setMostPerPage(2)
  for (const name of ['web', 'api', 'tool']) fake.addPlan(`SHOP-${name.toUpperCase()}`, name)
  fake.addPlan('OPS-TOOL', 'tool', 'ops')
  const settings = { endpoint: fake.endpoint, username: USER, password: PASSWORD }
  const client = openAwaitedClient(bamboo.source!, settings)
  const question = { client, settings, signal: AbortSignal.timeout(60_000) }
  const { list, search } = bamboo.source!.scope.remote!
  try {
    const root = await list(question)
    expect(root.children).toMatchObject([
      { type: 'group', id: 'SHOP' },
      { type: 'group', id: 'OPS' },
    ])
    const first = await list({ ...question, group: 'SHOP' })
    const second = await list({ ...question, group: 'SHOP', page: first.next as object })
    expect([...first.children, ...second.children].map(({ id }) => id)).toEqual(['SHOP-WEB', 'SHOP-API', 'SHOP-TOOL'])
    expect(second.next).toBeUndefined()
    const found = await search!({ ...question, search: 'TOOL', page: 1, pageSize: 20 })
    expect(found.children.map(({ id, fullName }) => [id, fullName])).toEqual([
      ['SHOP-TOOL', 'shop - tool'],
      ['OPS-TOOL', 'ops - tool'],
    ])
  } finally {
    await client.close()
    await fake.stop()
  }
})
