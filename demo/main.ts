/** `npm run demo`: Weir with an invented organisation, collected from fake tools in the same way as from real ones. */
import { spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureWebBuilt } from '../scripts/build-web.mjs'
import { type Ask, fillDemo } from './fill.ts'
import { tellStory } from './story.ts'
import { startVendors } from './vendors.ts'

const HELP = `npm run demo

Starts Weir with an invented organisation: 8 services, 40 people, 18 months. Ctrl-C stops it. Each start begins with new data.

  PORT          the port of the server (default: 8080)
  DATA_FOLDER   where the data is (default: .weir/demo)

The command line speaks of the demo if it gets the demo's folder, in another terminal:

  DATA_FOLDER=.weir/demo/data npx weir metrics`

if (process.argv.length > 2) {
  console.log(HELP)
  process.exit(process.argv[2] === '--help' ? 0 : 2)
}

const root = join(import.meta.dirname, '..')
const folder = process.env.DATA_FOLDER ?? join(root, '.weir/demo')
const port = process.env.PORT ?? '8080'
const server = `http://127.0.0.1:${port}`
const OVER = ['TASK_COMPLETED', 'TASK_PARTIAL', 'TASK_FAILED', 'TASK_CANCELLED']

const say = (line: string) => console.log(`weir: ${line.replaceAll(/(?<= )\/dashboards/g, `${server}/dashboards`)}`)

const ask: Ask = async (method, path, body, type = 'application/json') => {
  const answer = await fetch(server + path, {
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

function startServer(): void {
  const child = spawn(process.execPath, [join(root, 'src/main.ts'), 'up'], {
    env: { ...process.env, DATA_FOLDER: join(folder, 'data'), PORT: port },
    stdio: ['inherit', 'inherit', 'ignore'],
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  child.once('exit', (code) => process.exit(code ?? 1))
}

async function untilReady(): Promise<void> {
  while (!(await fetch(`${server}/ping`).catch(() => undefined))?.ok) await sleep(200)
}

async function finished(run: number): Promise<string> {
  for (;;) {
    const { status } = await ask('GET', `/pipelines/${run}`)
    if (OVER.includes(status)) return status
    await sleep(500)
  }
}

/** It starts again each time: the fakes forget everything when they end. */
rmSync(folder, { recursive: true, force: true })
const repositories = join(folder, 'repositories')
mkdirSync(repositories, { recursive: true })
await ensureWebBuilt()
say('making up an organisation: 8 services, 40 people and bots, 18 months')
// It starts while the organisation is made up.
startServer()
const stories = tellStory(Date.now())
const vendors = await startVendors(stories, repositories)
await untilReady()
await fillDemo({ stories, vendors, ask, say, finished })
say(`the demo is ready: open ${server}. Ctrl-C ends it; what it made is in ${folder}.`)
const near = relative(process.cwd(), folder)
const dataFolder = join(near.startsWith('..') ? folder : near, 'data')
say(`commands about it need its folder, in another terminal: DATA_FOLDER=${dataFolder} npx weir metrics`)
