/** Takes the pictures of docs/guide/ from a running demo: `npm run screenshots -- --guide ADDRESS`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { settled } from '../tests/web/support/pages.ts'

type Ask = (path: string) => Promise<any>
type AddressOf = (ask: Ask) => string | Promise<string>

const PROJECT = 'Checkout'
const SIZE = { width: 1280, height: 800 }
const QUALITY = 75

/** File name → address of the page. */
const PICTURES: Readonly<Record<string, AddressOf>> = {
  overview: () => '/',
  connect: () => '/sources/github/new',
  connection: async (ask) => `/sources/github/${(await ask('/plugins/github/connections'))[0].id}`,
  rules: async (ask) => {
    const [connection] = await ask('/plugins/jira/connections')
    const [config] = await ask(`/plugins/jira/connections/${connection.id}/scope-configs`)
    return `/sources/jira/${connection.id}/rules/${config.id}`
  },
  project: () => `/projects/${PROJECT}`,
  fields: () => '/data/fields',
  'service-report': () => `/dashboards/service-report?from=now-1y&to=now&var-project=${PROJECT}`,
  traffic: async (ask) => `/traffic/${(await ask('/v1/traffic-switches'))[0].id}`,
  alerts: () => '/settings/alerts',
  missing: () => '/runs/health',
  api: () => '/swagger',
}

/** Shows a request that was tried, with its answer. */
async function tryRequest(page: Page): Promise<void> {
  await page.locator('#operations-tag-projects').click()
  const operation = page.locator('.opblock', { has: page.locator('[data-path="/projects/{projectName}"]') }).first()
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  await operation.getByPlaceholder('projectName').fill(PROJECT)
  await operation.getByRole('button', { name: 'Execute' }).click()
  await operation.locator('.live-responses-table').waitFor()
  await operation.locator('.opblock-summary').evaluate('(summary) => summary.scrollIntoView()')
}

/** All pictures, or only the one that is named. */
function picturesOf(only: string | undefined): readonly (readonly [string, AddressOf])[] {
  const chosen = Object.entries(PICTURES).filter(([name]) => only === undefined || name === only)
  if (chosen.length > 0) return chosen
  throw new Error(`There is no picture ${only}: use one of ${Object.keys(PICTURES).join(', ')}.`)
}

export async function shootGuide(browser: Browser, demo: string, folder: string, only?: string): Promise<number> {
  const pictures = picturesOf(only)
  const ask: Ask = async (path) => (await fetch(demo + path)).json()
  const context = await browser.newContext({ viewport: SIZE, colorScheme: 'light' })
  const page = await context.newPage()
  // Playwright itself writes no WebP, which is a third of a PNG.
  const session = await context.newCDPSession(page)
  for (const [name, addressOf] of pictures) {
    await page.goto(demo + (await addressOf(ask)))
    await (name === 'api' ? tryRequest(page) : settled(page))
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
    writeFileSync(join(folder, `${name}.webp`), Buffer.from(data, 'base64'))
  }
  await context.close()
  return pictures.length
}
