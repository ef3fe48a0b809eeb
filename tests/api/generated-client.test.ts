/** A client that another program generates from our description compiles and works. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { generateSource } from 'oazapfts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeOneWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const root = dirname(dirname(import.meta.dirname))

describeOneWithTables('a generated client', (test) => {
  // In this folder the client finds the packages that it imports.
  const folder = join(root, 'node_modules/.cache', `generated-client-${test.engine}`)
  const file = join(folder, 'client.ts')
  let api: TestApi
  let client: any
  beforeAll(async () => {
    api = await startTestApi(test.database)
    mkdirSync(folder, { recursive: true })
    const description = join(folder, 'doc.json')
    writeFileSync(description, (await api.ask('GET', '/swagger/doc.json')).text)
    writeFileSync(file, await generateSource(description))
    // Node does not strip types below node_modules.
    const plain = join(folder, 'client.mjs')
    writeFileSync(plain, stripTypeScriptTypes(readFileSync(file, 'utf8'), { mode: 'transform' }))
    client = await import(plain)
    client.defaults.baseUrl = await api.server.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    await api.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('compiles, strictly', () => {
    const flags = ['--noEmit', '--strict', '--ignoreConfig', '--target', 'esnext', '--module', 'nodenext']
    const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), [...flags, file], { encoding: 'utf8' })
    expect(stdout).toBe('')
    expect(status).toBe(0)
  })

  it('creates, finds, changes and deletes', async () => {
    const created = await client.postProjects({
      name: 'shop',
      metrics: [{ pluginName: 'dora', pluginOption: {}, enable: true }],
    })
    expect(created).toMatchObject({ status: 201, data: { name: 'shop', blueprint: { mode: 'NORMAL' } } })
    const { id } = created.data.blueprint
    expect(await client.patchBlueprintsById(id, { cronConfig: '0 1 * * *' })).toMatchObject({
      data: { cronConfig: '0 1 * * *' },
    })
    expect(await client.getProjects({ pageSize: 1 })).toMatchObject({ status: 200, data: { count: 1 } })
    expect(await client.getV1MetricsByMetric('deployment-frequency', { project: 'shop' })).toMatchObject({
      status: 200,
    })
    const connection = await client.postPluginsGithubConnections({
      name: 'main',
      endpoint: 'http://127.0.0.1:9/',
      token: 't',
    })
    expect(connection).toMatchObject({ status: 201, data: { name: 'main' } })
    expect(await client.deleteProjectsByProjectName('shop')).toMatchObject({ status: 200, data: { success: true } })
  })

  it('knows failures by their status', async () => {
    expect(await client.getProjectsByProjectName('nowhere')).toMatchObject({
      status: 404,
      data: { success: false, message: expect.stringMatching(/no project nowhere/) },
    })
  })
})
