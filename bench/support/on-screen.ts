/** When the data of a page is on the screen, and whether a page that stays open grows. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, Page, Request } from 'playwright-core'

const AT_REST_MS = 50

/** Panels and pages that still wait: they say that they are busy, or show nothing at all until they have waited for a moment. */
const BUSY = '[aria-busy="true"], .panel-body:empty, .panel-body .chart:empty'
/** A panel without its rows is quick to draw, and says nothing about speed. */
const LOST = '.panel-body [role="alert"]'

/**
 * Waits until the data of the page is on the screen, which is later than its frame. Nothing waits, each panel shows its rows, and
 * no request is under way for a while, because what a page asks for next may depend on the answer before. That while is not counted.
 */
function watched(page: Page): (since: number) => Promise<number> {
  const open = new Set<Request>()
  let last = 0
  const ended = (request: Request) => {
    if (open.delete(request)) last = performance.now()
  }
  page.on('request', (request) => request.resourceType() !== 'eventsource' && open.add(request))
  page.on('requestfinished', ended)
  page.on('requestfailed', ended)
  return async (since) => {
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    for (;;) {
      await page.locator(BUSY).first().waitFor({ state: 'detached' })
      // A frame that is drawn after that.
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
      const seen = performance.now()
      await sleep(AT_REST_MS)
      if (open.size > 0 || last > seen || (await page.locator(BUSY).count()) > 0) continue
      const lost = page.locator(LOST)
      if ((await lost.count()) > 0) throw new Error(`${page.url()}: ${await lost.first().textContent()}`)
      return seen - since
    }
  }
}

export interface Stopwatch {
  /** Milliseconds until the data of the page is on the screen, for a browser that was there before and has the scripts. */
  timeOf(address: string): Promise<number>
  /** The same for a page with nothing on it. */
  timeOfEmpty(address: string): Promise<number>
}

export async function stopwatch(context: BrowserContext): Promise<Stopwatch> {
  const page = await context.newPage()
  const onScreen = watched(page)
  const timed = async (address: string, done: (since: number) => Promise<number>) => {
    const start = performance.now()
    await page.goto(address, { waitUntil: 'commit' })
    return done(start)
  }
  return {
    timeOf: async (address) => {
      await timed(address, onScreen)
      return timed(address, onScreen)
    },
    timeOfEmpty: (address) =>
      timed(address, async (since) => {
        await page.waitForLoadState()
        return performance.now() - since
      }),
  }
}

/** Kilobytes that a browser without anything in its cache has to transfer until the data is on the screen. */
export async function kilobytesOf(browser: Browser, address: string): Promise<number> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  const onScreen = watched(page)
  await page.goto(address)
  await onScreen(performance.now())
  await context.close()
  return bytes / 1024
}

interface Holding {
  readonly addresses: readonly string[]
  readonly minutes: number
  /** Runs again and again, and makes the pages ask. */
  readonly meanwhile: (pages: readonly Page[]) => Promise<unknown>
}

/** How many times as large the memory of open pages is at the end, compared with a quarter of the way. */
export async function growthOf(browser: Browser, { addresses, minutes, meanwhile }: Holding): Promise<number> {
  const context = await browser.newContext()
  const pages = await Promise.all(addresses.map(() => context.newPage()))
  await Promise.all(pages.map((page, index) => page.goto(addresses[index] as string)))
  const heap = async () => {
    let bytes = 0
    for (const page of pages) {
      const session = await context.newCDPSession(page)
      await session.send('HeapProfiler.collectGarbage')
      bytes += (await session.send('Runtime.getHeapUsage')).usedSize
      await session.detach()
    }
    return bytes
  }
  const start = performance.now()
  const elapsed = () => (performance.now() - start) / 60_000
  let before = 0
  while (elapsed() < minutes) {
    await meanwhile(pages)
    if (before === 0 && elapsed() >= minutes / 4) before = await heap()
  }
  const after = await heap()
  await context.close()
  return after / before
}
