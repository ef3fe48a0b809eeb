/** npm run screenshots [-- FOLDER]: every page of the web client as a picture, at three sizes, light and dark. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Browser } from 'playwright-core'
import { startLiveServer } from '../tests/api/support/live-server.ts'
import { openBrowser } from '../tests/web/support/browser.ts'
import { fill } from '../tests/web/support/filled.ts'
import { addressOf, placesOfPages, settled } from '../tests/web/support/pages.ts'
import { ensureWebBuilt } from './build-web.mjs'

const SIZES = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
]
const SCHEMES = ['light', 'dark'] as const
const folder = resolve(process.argv[2] ?? '.weir/screenshots')

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

await ensureWebBuilt()
mkdirSync(folder, { recursive: true })
const dataFolder = mkdtempSync(join(tmpdir(), 'weir-screenshots-'))
// Without DB_URL: the embedded database, in the same folder.
const server = await startLiveServer('', {}, dataFolder)
const browser = await openBrowser()
try {
  const filled = await fill(server)
  await shoot(browser, (path) => server.url + addressOf(path, filled))
  await filled.stop()
  console.log(`weir: ${placesOfPages.length * SIZES.length * SCHEMES.length} pictures in ${folder}`)
} finally {
  await browser.close()
  await server.stop()
  rmSync(dataFolder, { recursive: true, force: true })
}
process.exit()
