/**
 * npm run screenshots [-- FOLDER]: every page of the web client as a picture, at three sizes, light and dark.
 * npm run screenshots -- --demo ADDRESS [FOLDER]: every dashboard of a demo that is running, whole, light and dark.
 * npm run screenshots -- --guide ADDRESS [--only NAME] docs/pictures: the pictures of the guide, or one, of a demo that is running.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser } from 'playwright-core'
import { startLiveServer } from '../tests/api/support/live-server.ts'
import { openBrowser } from '../tests/web/support/browser.ts'
import { fill } from '../tests/web/support/filled.ts'
import { addressOf, placesOfPages, settled } from '../tests/web/support/pages.ts'
import { ensureWebBuilt } from './build-web.mjs'
import { shootGuide } from './guide-pictures.ts'

const SIZES = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
]
const SCHEMES = ['light', 'dark'] as const
const { values, positionals } = parseArgs({
  options: { demo: { type: 'string' }, guide: { type: 'string' }, only: { type: 'string' } },
  allowPositionals: true,
})
const folder = resolve(positionals[0] ?? '.weir/screenshots')

/** `/projects/$name` → `projects-name` */
const fileOf = (path: string) => path.replace(/^\//, '').replaceAll(/[/$]+/g, '-') || 'overview'

async function shoot(browser: Browser, address: (path: string) => string): Promise<void> {
  for (const viewport of SIZES) {
    for (const colorScheme of SCHEMES) {
      const context = await browser.newContext({ viewport, colorScheme })
      const page = await context.newPage()
      for (const path of placesOfPages) {
        await page.goto(address(path))
        await settled(page)
        await page.screenshot({ path: join(folder, `${fileOf(path)}.${viewport.width}.${colorScheme}.png`) })
      }
      await context.close()
    }
  }
}

/** A picture is as tall as its page, up to this height, so that no panel is left out. */
const TALLEST = 4000

async function shootDashboards(browser: Browser, demo: string): Promise<number> {
  const asked = async (path: string): Promise<any> => (await fetch(demo + path)).json()
  const dashboards: { name: string }[] = await asked('/v1/dashboards')
  const { projects } = await asked('/projects?pageSize=100')
  const project = encodeURIComponent(
    projects.find(({ name }: { name: string }) => name === 'Checkout')?.name ?? projects[0].name,
  )
  for (const colorScheme of SCHEMES) {
    for (const { width, height } of SIZES) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme })
      const page = await context.newPage()
      for (const { name } of dashboards) {
        await page.setViewportSize({ width, height })
        await page.goto(`${demo}/dashboards/${name}?from=now-1y&to=now&var-project=${project}`)
        await settled(page)
        const whole = Number(await page.evaluate('document.documentElement.scrollHeight'))
        await page.setViewportSize({ width, height: Math.min(Math.max(height, whole), TALLEST) })
        await settled(page)
        await page.screenshot({ path: join(folder, `dashboard-${name}.${width}.${colorScheme}.png`) })
      }
      await context.close()
    }
  }
  return dashboards.length * SIZES.length * SCHEMES.length
}

async function shootPages(browser: Browser): Promise<number> {
  await ensureWebBuilt()
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-screenshots-'))
  // Without DB_URL: the embedded database, in the same folder.
  const server = await startLiveServer('', {}, dataFolder)
  try {
    const filled = await fill(server)
    await shoot(browser, (path) => server.url + addressOf(path, filled))
    await filled.stop()
    return placesOfPages.length * SIZES.length * SCHEMES.length
  } finally {
    await server.stop()
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

function take(browser: Browser): Promise<number> {
  if (values.guide) return shootGuide(browser, values.guide, folder, values.only)
  return values.demo ? shootDashboards(browser, values.demo) : shootPages(browser)
}

mkdirSync(folder, { recursive: true })
const browser = await openBrowser()
try {
  const count = await take(browser)
  console.log(`weir: ${count} pictures in ${folder}`)
} finally {
  await browser.close()
}
process.exit()
