/**
 * The demo and its pages in a browser: how long until the demo is ready and until the data of each page is on the screen, what
 * the first load transfers, and whether pages that stay open while runs continue grow. `--minutes 60` gives the last of these its hour.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Browser } from 'playwright-core'
import { freePort } from '../tests/support/servers.ts'
import { openBrowser } from '../tests/web/support/browser.ts'
import type { Filled } from '../tests/web/support/filled.ts'
import { addressOf, placesOfPages } from '../tests/web/support/pages.ts'
import { growthOf, kilobytesOf, stopwatch } from './support/on-screen.ts'

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
      const kilobytes = await kilobytesOf(browser, url)
      const slowest = await pages(browser, url, filled)
      const growth = await openFor(browser, url, filled, Number(values.minutes))
      console.log(
        `web: ${slowest.milliseconds.toFixed(0)} ms until the data of the slowest page (${slowest.path}) is on the screen (ratio ${(slowest.milliseconds / slowest.empty).toFixed(2)} to ` +
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

async function pages(browser: Browser, url: string, filled: Filled) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const { timeOf, timeOfEmpty } = await stopwatch(context)
  let slowest = { path: '', milliseconds: 0, empty: 1 }
  for (const path of placesOfPages.filter((each) => !WITHOUT.test(each))) {
    const milliseconds = await timeOf(url + addressOf(path, filled))
    const empty = await timeOfEmpty(`${url}/ping`)
    console.log(`${path}: ${milliseconds.toFixed(0)} ms`)
    if (milliseconds > slowest.milliseconds) slowest = { path, milliseconds, empty }
  }
  await context.close()
  return slowest
}

/** Three pages stay open while runs continue. */
const openFor = (browser: Browser, url: string, { blueprintId }: Filled, minutes: number): Promise<number> =>
  growthOf(browser, {
    addresses: ['/', '/runs', '/dashboards/dora'].map((path) => url + path),
    minutes,
    meanwhile: async () => {
      await fetch(`${url}/blueprints/${blueprintId}/trigger`, { method: 'POST' })
      await sleep(5000)
    },
  })
