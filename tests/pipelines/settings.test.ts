import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import type { Services } from '../../src/control-plane/services.ts'
import { write } from '../../src/database/write.ts'
import { cicdScopes } from '../../src/domain/devops.ts'
import { projects as circleciProjects } from '../../src/plugins/circleci/kit.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { realControl } from './support/real-control.ts'

const TOKEN = 'planted-secret-token'

describeEachWithTables('connections, scopes and scope configs', (test) => {
  let services: Services
  beforeAll(async () => {
    await prepareDatabase(test.database)
    services = realControl(test.database).services
  })
  const connect = (name: string, values = {}) =>
    services.connections.create('circleci', { name, token: TOKEN, ...values })

  it('stores connections with defaults, secrets encrypted, and shows them masked', async () => {
    const { id, ...shown } = await connect('first', {
      Proxy: 'http://user:pass-word@proxy:3128',
      RATELIMITPERHOUR: '50',
    })
    expect(shown).toMatchObject({
      name: 'first',
      endpoint: 'https://circleci.com/api/',
      token: 'pl****************en',
      proxy: 'http://user:*********@proxy:3128',
      rateLimitPerHour: 50,
    })
    expect(await services.connections.get('circleci', id)).toMatchObject(shown)
    expect((await services.connections.list('circleci')).map(({ name }) => name)).toEqual(['first'])
    const { rows } = await sql`select * from _tool_circleci_connections`.execute(test.database.kysely)
    expect(JSON.stringify(rows)).not.toMatch(/planted|pass-word/)
    expect(await services.connections.reveal('circleci', id)).toMatchObject({
      token: TOKEN,
      proxy: 'http://user:pass-word@proxy:3128',
    })
  })

  it('keeps a secret that comes back masked or empty, and changes one that is new', async () => {
    const { id, token } = await connect('patched')
    for (const sent of [{ token }, { token: '' }, {}, { name: 'renamed' }, { unknown: 1 }]) {
      await services.connections.update('circleci', id, sent)
      expect((await services.connections.reveal('circleci', id)).token).toBe(TOKEN)
    }
    await services.connections.update('circleci', id, { token: 'another-token' })
    expect(await services.connections.reveal('circleci', id)).toMatchObject({ token: 'another-token', name: 'renamed' })
    await expect(services.connections.update('circleci', id, { token: null })).rejects.toThrow('token is missing')
  })

  it('keeps each of several tokens that come back masked', async () => {
    const tokens = [`ghp_${'a'.repeat(36)}`, `ghp_${'b'.repeat(36)}`]
    const { id, token } = await services.connections.create('github', { name: 'pool', token: tokens.join(',') })
    const [, second] = token.split(',')
    await services.connections.update('github', id, { token: `new-token-here,${second}` })
    expect((await services.connections.reveal('github', id)).token).toBe(`new-token-here,${tokens[1]}`)
  })

  it('says what is wrong with a connection', async () => {
    await connect('taken')
    await expect(connect('taken')).rejects.toMatchObject({ status: 400, message: expect.stringContaining('taken') })
    await expect(connect('')).rejects.toThrow('name is missing')
    await expect(connect('x'.repeat(101))).rejects.toThrow('at most 100')
    await expect(connect('a', { token: '' })).rejects.toThrow('token is missing')
    await expect(connect('b', { endpoint: 'not an address' })).rejects.toThrow('endpoint must be')
    await expect(connect('c', { rateLimitPerHour: 'many' })).rejects.toThrow('whole number')
    await expect(connect('d', { token: { a: 1 } })).rejects.toThrow('token must be text')
    await expect(services.connections.get('circleci', 999)).rejects.toMatchObject({ status: 404 })
    await expect(services.connections.list('nothing')).rejects.toMatchObject({ status: 404 })
    await expect(services.connections.list('dora')).rejects.toMatchObject({ status: 404 })
    await expect(services.connections.list('github_graphql')).rejects.toMatchObject({ status: 404 })
  })

  it('puts, finds, pages and changes scopes', async () => {
    const { id } = await connect('scopes')
    const put = await services.scopes.put('circleci', id, [
      { id: 'u1', slug: 'gh/acme/API', name: 'API_one' },
      { id: 'u2', slug: 'gh/acme/web', name: 'Web', connectionId: 77, extra: true },
    ])
    expect(put).toMatchObject([
      { id: 'u1', connectionId: id, name: 'API_one', _raw_data_table: '_raw_circleci_scopes' },
      { id: 'u2', connectionId: id },
    ])
    expect(put[0]?._raw_data_params).toBe(`{"ConnectionId":${id},"ProjectSlug":"gh/acme/API"}`)
    const list = async (filter: object) => {
      const { count, items } = await services.scopes.list('circleci', id, filter)
      return [count, ...items.map(({ scope }) => scope.id)]
    }
    expect(await list({})).toEqual([2, 'u1', 'u2'])
    expect(await list({ pageSize: 1, page: 2 })).toEqual([2, 'u2'])
    expect(await list({ searchTerm: 'api_' })).toEqual([1, 'u1'])
    expect(await list({ searchTerm: '_e' })).toEqual([0])
    expect(await list({ searchTerm: '%' })).toEqual([0])
    await expect(list({ pageSize: 1001 })).rejects.toThrow('pageSize')
    expect((await services.scopes.list('circleci', 4711)).count).toBe(0)
    expect(await services.scopes.update('circleci', id, 'u2', { name: 'Site', id: 'other' })).toMatchObject({
      id: 'u2',
      name: 'Site',
    })
    await expect(services.scopes.get('circleci', id, 'nope')).rejects.toMatchObject({ status: 404 })
    await expect(services.scopes.put('circleci', id, [{ name: 'x' }])).rejects.toThrow('id is missing')
    await expect(services.scopes.put('circleci', 999, [{ id: 'x' }])).rejects.toThrow('no circleci connection')
    await expect(services.scopes.put('circleci', id, ['x'] as any)).rejects.toThrow('must be an object')
  })

  it('spells scope fields as DevLake does, and takes numbers as text', async () => {
    const { id } = await services.connections.create('github', { name: 'spelling', token: TOKEN })
    const [scope] = await services.scopes.put('github', id, [
      {
        githubId: '384111310',
        name: 'repo',
        fullName: 'acme/repo',
        HTMLUrl: 'https://github.com/acme/repo',
        parentId: 5,
      },
    ])
    expect(scope).toMatchObject({ githubId: 384111310, HTMLUrl: 'https://github.com/acme/repo', parentId: 5 })
    expect((await services.scopes.get('github', id, '384111310')).scope.fullName).toBe('acme/repo')
    await expect(services.scopes.get('github', id, "1' or 1=1")).rejects.toMatchObject({ status: 404 })
    await expect(services.scopes.put('github', id, [{ githubId: 'x' }])).rejects.toMatchObject({ status: 400 })
  })

  it('stores scope configs, refuses patterns that do not compile, and guards those in use', async () => {
    const { id } = await connect('configs')
    const config = await services.scopeConfigs.create('circleci', id, {
      name: 'rules',
      entities: ['CICD'],
      deploymentPattern: '(?i)deploy',
    })
    expect(config).toMatchObject({
      connectionId: id,
      entities: ['CICD'],
      deploymentPattern: '(?i)deploy',
      productionPattern: '',
    })
    await expect(services.scopeConfigs.create('circleci', id, { name: 'rules' })).rejects.toThrow('already called')
    await expect(services.scopeConfigs.create('circleci', id, {})).rejects.toThrow('name is missing')
    await expect(
      services.scopeConfigs.update('circleci', id, config.id, { deploymentPattern: '(open' }),
    ).rejects.toMatchObject({ status: 400 })
    await expect(services.scopeConfigs.create('circleci', 999, { name: 'x' })).rejects.toMatchObject({ status: 404 })
    const changed = await services.scopeConfigs.update('circleci', id, config.id, {
      productionPattern: 'prod',
      deploymentPattern: null,
    })
    expect(changed).toMatchObject({ deploymentPattern: '', productionPattern: 'prod', name: 'rules' })

    await services.scopes.put('circleci', id, [{ id: 'c1', slug: 'c1', name: 'One', scopeConfigId: config.id }])
    expect(await services.scopes.get('circleci', id, 'c1')).toMatchObject({
      scopeConfig: { id: config.id, name: 'rules' },
    })
    await expect(services.scopeConfigs.remove('circleci', id, config.id)).rejects.toMatchObject({
      status: 409,
      data: [{ id: 'c1' }],
    })
    await expect(services.scopes.update('circleci', id, 'c1', { scopeConfigId: 4711 })).rejects.toThrow('4711')
    expect(await services.scopes.update('circleci', id, 'c1', { scopeConfigId: null })).not.toHaveProperty(
      'scopeConfigId',
    )
    expect(await services.scopeConfigs.remove('circleci', id, config.id)).toMatchObject({ name: 'rules' })
    await expect(services.scopeConfigs.get('circleci', id, config.id)).rejects.toMatchObject({ status: 404 })
  })

  it('guards what blueprints use, and deletes collected data with a scope', async () => {
    const { id } = await connect('guarded')
    await services.scopes.put('circleci', id, [{ id: 'g1', slug: 'gh/a/b', name: 'G' }])
    await services.projects.create({
      name: 'guarding',
      blueprint: { connections: [{ pluginName: 'circleci', connectionId: id, scopes: [{ scopeId: 'g1' }] }] },
    })
    const guard = { status: 409, data: { blueprints: ['guarding-Blueprint'], projects: ['guarding'] } }
    await expect(services.connections.remove('circleci', id)).rejects.toMatchObject(guard)
    await expect(services.scopes.remove('circleci', id, 'g1')).rejects.toMatchObject(guard)
    const view = await services.scopes.get('circleci', id, 'g1', { blueprints: true })
    expect(view.blueprints).toMatchObject([{ projectName: 'guarding', plan: null, connections: null, labels: null }])

    const params = `{"ConnectionId":${id},"ProjectSlug":"gh/a/b"}`
    const origin = { _raw_data_params: params, _raw_data_table: '_raw_circleci_api_projects' }
    await write(test.database, [
      cicdScopes.row({ id: 'mine', ...origin }),
      cicdScopes.row({ id: 'theirs', ...origin, _raw_data_table: '_raw_jenkins_jobs' }),
      cicdScopes.row({ id: 'others', ...origin, _raw_data_params: '{}' }),
    ])
    await services.scopes.remove('circleci', id, 'g1', { dataOnly: true })
    const { rows } = await sql<{ id: string }>`select id from cicd_scopes order by id`.execute(test.database.kysely)
    expect(rows.map((row) => row.id)).toEqual(['others', 'theirs'])
    expect((await services.scopes.get('circleci', id, 'g1')).scope.name).toBe('G')

    await services.projects.remove('guarding')
    await expect(services.connections.remove('circleci', id)).rejects.toMatchObject({ status: 409 })
    await services.scopes.remove('circleci', id, 'g1')
    expect(await services.connections.remove('circleci', id)).toMatchObject({
      name: 'guarded',
      token: 'pl****************en',
    })
    const { rows: left } = await sql`select * from ${sql.table(circleciProjects.name)}
      where connection_id = ${id}`.execute(test.database.kysely)
    expect(left).toEqual([])
  })
})
