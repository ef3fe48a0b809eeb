/** Every link and every button of every page leads somewhere, with the demo, and where repositories cannot be cloned. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Ask, fillDemo } from '../../demo/fill.ts'
import { SMALL } from '../../demo/organisation.ts'
import { tellStory } from '../../demo/story.ts'
import { startVendors, type Vendors } from '../../demo/vendors.ts'
import { describeClient } from './support/client.ts'
import type { Filled } from './support/filled.ts'
import { addressOf, placesOfPages } from './support/pages.ts'
import { kindOf, walkThrough } from './support/walk.ts'

const PATIENCE_MS = 600_000
const OVER = ['TASK_COMPLETED', 'TASK_PARTIAL', 'TASK_FAILED', 'TASK_CANCELLED']
const WEB = join(import.meta.dirname, '../../web')

it('addresses that no type knows are those of places', () => {
  const isPlace = (path: string) =>
    placesOfPages.some((place) => new RegExp(`^${place.replace(/\$\w+/g, '[^/]+')}$`).test(path.replace(/\$\{[^}]+\}/g, 'x')))
  const files = readdirSync(WEB, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  const found = files
    .filter((file) => !file.startsWith('dist') && !/places\.tsx?$/.test(file))
    .flatMap((file) => [
      ...readFileSync(join(WEB, file), 'utf8').matchAll(/(?:\bpath: ?'|pathOf`|\bto="|\bto: ?')(\/[^'"`]*)/g),
    ])
    .map(([, path]) => path as string)
  expect(found.length).toBeGreaterThan(30)
  expect([...new Set(found)].filter((path) => !isPlace(path))).toEqual([])
})

describeClient('every link and button', (client) => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-links-'))
  let vendors: Vendors
  let filled: Filled
  const project = () => filled.project

  const ask: Ask = async (method, path, body, type = 'application/json') => {
    const answer = await fetch(client.server.url + path, {
      method,
      ...(body && {
        headers: { 'content-type': type },
        body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
      }),
    })
    const isJson = answer.headers.get('content-type')?.includes('json')
    const result: any = isJson ? await answer.json() : await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${result.message}`)
    return result
  }
  const finished = async (run: number): Promise<string> => {
    for (;;) {
      const { status } = await ask('GET', `/pipelines/${run}`)
      if (OVER.includes(status)) return status
      await sleep(100)
    }
  }

  beforeAll(async () => {
    const stories = tellStory(Date.now(), { ...SMALL, weeks: 8 })
    vendors = await startVendors(stories, folder)
    await fillDemo({ stories, vendors, ask, say: () => {}, finished })
    // From now on, nothing can be cloned.
    for (const { service } of stories) rmSync(join(folder, service.name), { recursive: true, force: true })
    const { projects } = await ask('GET', '/projects')
    const [{ name, blueprint }] = projects
    const { id: runId } = await ask('POST', `/blueprints/${blueprint.id}/trigger`, { fullSync: true })
    expect(await finished(runId)).toBe('TASK_PARTIAL')
    const [connection] = await ask('GET', '/plugins/github/connections')
    const { scopes } = await ask('GET', `/plugins/github/connections/${connection.id}/scopes`)
    const [scopeConfig] = await ask('GET', `/plugins/github/connections/${connection.id}/scope-configs`)
    const [webhook] = await ask('GET', '/plugins/webhook/connections')
    const [{ id: switchId }] = (await ask('GET', '/v1/traffic-switches')).switches
    const { token: sharedToken } = await ask('POST', '/v1/shared-dashboards', {
      dashboard: 'dora',
      values: { project: name },
    })
    const ids = { connectionId: connection.id, scopeConfigId: scopeConfig?.id ?? 0, webhookId: webhook.id }
    filled = {
      project: name,
      scopeId: String(scopes[0].scope.githubId),
      blueprintId: blueprint.id,
      runId,
      switchId,
      sharedToken,
      ...ids,
      odd: { project: name, ...ids },
      stop: () => vendors.stop(),
    }
  }, PATIENCE_MS)
  afterAll(async () => {
    await vendors?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('leads somewhere', { timeout: PATIENCE_MS }, async () => {
    const page = await client.open('/')
    const walk = walkThrough(page, client.server.url)
    const inProject = (search: string) => `/projects/${encodeURIComponent(project())}?${search}`
    const pages = [
      ...placesOfPages.map((path) => addressOf(path, filled)),
      ...['blueprint', 'webhooks', 'policies', 'rollouts', 'settings'].map((tab) => inProject(`tab=${tab}`)),
      ...['change-lead-time', 'change-failure-rate'].map((metric) => inProject(`explain=${metric}`)),
      ...['aside', 'receipts'].map((show) => `/runs/health?show=${show}`),
      `/start?step=numbers&project=${encodeURIComponent(project())}`,
      '/dashboards/service-report',
    ]
    const seen = new Set(pages.map(kindOf))
    const waiting = [...pages]
    for (let address = waiting.shift(); address !== undefined; address = waiting.shift()) {
      await walk.go(address)
      for (const link of await walk.links()) {
        if (seen.has(kindOf(link))) continue
        seen.add(kindOf(link))
        waiting.push(link)
      }
    }
    expect(seen.size).toBeGreaterThan(placesOfPages.length)
    for (const address of pages) await walk.press(address)
    expect([...walk.problems]).toEqual([])
  })
})
