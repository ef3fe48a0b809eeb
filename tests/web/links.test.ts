/** Every link and every button of every page works, also when repositories cannot be cloned. FULL_SIZE=true walks through the demo. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fourKeys, metricNamed } from '../../src/metrics/index.ts'
import { describeClient } from './support/client.ts'
import { fillWithDemo } from './support/demo.ts'
import { type Filled, fill } from './support/filled.ts'
import { addressOf, placesOfPages } from './support/pages.ts'
import { kindOf, walkThrough } from './support/walk.ts'

const PATIENCE_MS = 900_000
/** Uses the organisation of the demo, which takes longer to collect. */
const IS_WHOLE = process.env.FULL_SIZE === 'true'
/** An address that the server itself answers. */
const SWAGGER = '/swagger'
/** Expected refusals: empty forms (the server names the field), a run that another page began, and missing clusters. */
const REFUSED = [
  '/new, button “Test connection”',
  'of this blueprint is not finished yet: wait for it, or cancel it.',
  'The kubeconfig has no context',
]
const WEB = join(import.meta.dirname, '../../web')

it('addresses that no type knows are those of places', () => {
  const isPlace = (path: string) =>
    placesOfPages.some((place) =>
      new RegExp(`^${place.replace(/\$\w+/g, '[^/]+')}$`).test(path.replace(/\$\{[^}]+\}/g, 'x')),
    )
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

it('the four keys have one name on every page: the one that the server gives them', () => {
  const text = readFileSync(join(WEB, 'projects/keys.ts'), 'utf8')
  const named = [...text.matchAll(/name: '([\w-]+)', title: '([^']+)'/g)].map(([, name = '', title]) => [name, title])
  expect(named).toHaveLength(fourKeys.length)
  for (const [name = '', title] of named) expect(title).toBe(metricNamed(name).title)
})

describeClient('every link and button', (client) => {
  let filled: Filled
  beforeAll(async () => {
    filled = IS_WHOLE ? await fillWithDemo(client.server) : await fill(client.server, { withLost: true })
  }, PATIENCE_MS)
  afterAll(() => filled?.stop())

  it('leads somewhere', { timeout: PATIENCE_MS }, async () => {
    const page = await client.open('/')
    const walk = walkThrough(page, client.server.url)
    const project = encodeURIComponent(filled.project)
    const inProject = (search: string) => `/projects/${project}?${search}`
    const pages = [
      ...placesOfPages.map((path) => addressOf(path, filled)),
      ...['blueprint', 'webhooks', 'policies', 'rollouts', 'settings'].map((tab) => inProject(`tab=${tab}`)),
      ...['change-lead-time', 'change-failure-rate'].map((metric) => inProject(`explain=${metric}`)),
      ...['aside', 'receipts'].map((show) => `/runs/health?show=${show}`),
      `/start?step=numbers&plugin=github&connection=${filled.connectionId}&project=${project}`,
      ...(IS_WHOLE
        ? []
        : [
            `/start?step=numbers&plugin=github&connection=${filled.connectionId}&project=lost`,
            '/runs/health?project=lost',
          ]),
      '/dashboards/service-report',
    ]
    const seen = new Set(pages.map(kindOf))
    const waiting = [...pages]
    for (let address = waiting.shift(); address !== undefined; address = waiting.shift()) {
      await walk.go(address)
      for (const link of await walk.links()) {
        if (seen.has(kindOf(link)) || kindOf(link) === SWAGGER) continue
        seen.add(kindOf(link))
        waiting.push(link)
      }
    }
    expect(seen.size).toBeGreaterThan(placesOfPages.length)
    expect((await client.server.ask('GET', SWAGGER)).status).toBe(200)
    for (const round of ['others', 'deletes'] as const) {
      for (const address of pages) await walk.press(address, round)
    }
    // The walk reports every refused request and the page that sent it.
    client.expectComplaint('Failed to load resource')
    expect([...walk.problems].filter((problem) => !REFUSED.some((part) => problem.includes(part)))).toEqual([])
  })
})
