/**
 * The demo and its pages in a browser: how long until the demo is ready and until each page can be used, what the first load
 * transfers, and whether a page that stays open while runs continue grows. `--minutes 60` gives the last of these its hour.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Browser, Page, Request } from 'playwright-core'
import { freePort } from '../tests/support/servers.ts'
import { openBrowser } from '../tests/web/support/browser.ts'
import type { Filled } from '../tests/web/support/filled.ts'
import { addressOf, placesOfPages } from '../tests/web/support/pages.ts'

/** Pages about things that the demo does not have. */
const WITHOUT = /^\/(sources\/webhooks\/\$|traffic\/\$|shared\/)/

export async function run(rest: string[]): Promise<void> {
  const { values } = parseArgs({ args: rest, options: { minutes: { type: 'string', default: '3' } } })
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-web-'))
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const began = performance.now()
  const demo = spawn(process.execPath, [join(import.meta.dirname, '../demo/main.ts')], {
    env: { ...process.env, PORT: port, DATA_FOLDER: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => demo.once('exit', () => resolve()))
  try {
    for await (const line of createInterface({ input: demo.stdout })) if (line.includes('the demo is ready')) break
    const ready = (performance.now() - began) / 1000
    console.log(`demo: ready after ${ready.toFixed(0)} s`)
    const browser = await openBrowser()
    try {
      const filled = await filledOf(url)
      const kilobytes = await firstLoad(browser, url)
      const slowest = await pages(browser, url, filled)
      const growth = await openFor(browser, url, filled, Number(values.minutes))
      console.log(
        `web: ${slowest.milliseconds.toFixed(0)} ms until the slowest page (${slowest.path}) can be used (ratio ${(slowest.milliseconds / slowest.empty).toFixed(2)} to ` +
          `an empty page of the same server; demo ready after ${ready.toFixed(0)} s, first load ${kilobytes.toFixed(0)} KB, ` +
          `heap ${growth.toFixed(2)} times as large after ${values.minutes} minutes of runs)`,
      )
    } finally {
      await browser.close()
    }
  } finally {
    demo.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

const asked = async (address: string): Promise<any> => (await fetch(address)).json()

async function filledOf(url: string): Promise<Filled> {
  const { projects } = await asked(`${url}/projects?pageSize=1`)
  const { pipelines } = await asked(`${url}/pipelines?pageSize=1`)
  const { scopes } = await asked(`${url}/plugins/github/connections/1/scopes?pageSize=1`)
  const configs = await asked(`${url}/plugins/github/connections/1/scope-configs`)
  return {
    project: projects[0].name,
    connectionId: 1,
    scopeId: String(scopes[0].scope.githubId),
    scopeConfigId: configs[0]?.id ?? 1,
    blueprintId: projects[0].blueprint.id,
    runId: pipelines[0].id,
    webhookId: 1,
    switchId: '',
    sharedToken: '',
    odd: { project: '', connectionId: 1, scopeConfigId: 1, webhookId: 1 },
    stop: async () => {},
  }
}

async function firstLoad(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  const usable = watched(page)
  await page.goto(url)
  await usable(performance.now())
  await context.close()
  return bytes / 1024
}

const AT_REST = 50

/**
 * Waits until the content of the page is there and the page responds. The grey shapes of what is still loading come only after
 * a moment, so a page must also have sent no request for a while. That while is not counted.
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
      await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
      // A frame that is drawn after that.
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
      const seen = performance.now()
      await sleep(AT_REST)
      const isBusy = (await page.locator('[aria-busy="true"]').count()) > 0
      if (open.size === 0 && last <= seen && !isBusy) return seen - since
    }
  }
}

async function pages(browser: Browser, url: string, filled: Filled) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  const usable = watched(page)
  const timed = async (address: string, done: (since: number) => Promise<number>) => {
    const start = performance.now()
    await page.goto(address, { waitUntil: 'commit' })
    return done(start)
  }
  const loaded = async (since: number) => {
    await page.waitForLoadState()
    return performance.now() - since
  }
  let slowest = { path: '', milliseconds: 0, empty: 1 }
  for (const path of placesOfPages.filter((each) => !WITHOUT.test(each))) {
    const address = url + addressOf(path, filled)
    // Twice, because the second time the browser has scripts in its cache, as for a user.
    await timed(address, usable)
    const milliseconds = await timed(address, usable)
    const empty = await timed(`${url}/ping`, loaded)
    console.log(`${path}: ${milliseconds.toFixed(0)} ms`)
    if (milliseconds > slowest.milliseconds) slowest = { path, milliseconds, empty }
  }
  await context.close()
  return slowest
}

/** Returns how much larger the heap is at the end than after a quarter of the time, when everything has been seen once. */
async function openFor(browser: Browser, url: string, { blueprintId }: Filled, minutes: number): Promise<number> {
  const context = await browser.newContext()
  const open = await Promise.all(['/', '/runs'].map(() => context.newPage()))
  await Promise.all(['/', '/runs'].map((path, index) => open[index]?.goto(url + path)))
  const heap = async () => {
    let bytes = 0
    for (const page of open) {
      const session = await context.newCDPSession(page)
      await session.send('HeapProfiler.collectGarbage')
      bytes += (await session.send('Runtime.getHeapUsage')).usedSize
      await session.detach()
    }
    return bytes
  }
  const start = performance.now()
  const elapsed = () => (performance.now() - start) / 60_000
  let early = 0
  while (elapsed() < minutes) {
    await fetch(`${url}/blueprints/${blueprintId}/trigger`, { method: 'POST' })
    await sleep(5000)
    if (early === 0 && elapsed() >= minutes / 4) early = await heap()
  }
  const late = await heap()
  await context.close()
  return late / early
}
