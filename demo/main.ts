/** `npm run demo`: Weir with an organisation that never was, collected from fakes of its tools through the real path. */
import { spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureWebBuilt } from '../scripts/build-web.mjs'
import { DEFAULT_TOKEN } from '../tests/fake-github/fake-github.ts'
import { serveGit } from '../tests/gitextractor/support/server.ts'
import { USER } from '../tests/jira/fake-jira.ts'
import { configOf } from './config.ts'
import { makeRepository } from './git.ts'
import { startGithub } from './github.ts'
import { startJira } from './jira.ts'
import { tellStory } from './story.ts'

const say = (line: string) => console.log(`weir: ${line}`)

const root = join(import.meta.dirname, '..')
const folder = process.env.DATA_FOLDER ?? join(root, '.weir/demo')
const port = process.env.PORT ?? '8080'
const server = `http://127.0.0.1:${port}`

/** It begins anew each time: the fakes forget everything when they end. */
rmSync(folder, { recursive: true, force: true })
const repositories = join(folder, 'repositories')
mkdirSync(repositories, { recursive: true })

say('making up an organisation: 8 services, 40 people, 18 months')
await ensureWebBuilt()
const stories = tellStory(Date.now())
const commits = new Map(stories.map((story) => [story.repository, makeRepository(repositories, story)]))
const git = await serveGit(repositories)
const github = await startGithub(stories, commits, (name) => `${git.url}/${name}`)
const jira = await startJira(stories)

const child = spawn(process.execPath, [join(root, 'src/main.ts'), 'up'], {
  env: { ...process.env, DATA_FOLDER: join(folder, 'data'), PORT: port },
  stdio: ['inherit', 'inherit', 'ignore'],
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
child.once('exit', (code) => process.exit(code ?? 1))

async function ask(method: string, path: string, body?: object): Promise<any> {
  const answer = await fetch(server + path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const result: any = await answer.json()
  if (!answer.ok) throw new Error(`${method} ${path}: ${result.message}`)
  return result
}

async function untilReady(): Promise<void> {
  while (!(await fetch(`${server}/ping`).catch(() => undefined))?.ok) await sleep(200)
}

async function untilCollected(): Promise<void> {
  for (let left = Number.POSITIVE_INFINITY; left > 0; await sleep(1000)) {
    const { count } = await ask('GET', '/pipelines?pending=1&pageSize=1')
    if (count !== left && count > 0) say(`collecting: ${count} of ${stories.length} projects to go`)
    left = count
  }
}

await untilReady()
const variables = { GITHUB_TOKEN: DEFAULT_TOKEN, JIRA_PASSWORD: USER.password }
await ask('POST', '/v1/config/apply', { config: configOf(stories, github.url, jira.url, USER.username), variables })
const { projects } = await ask('GET', `/projects?pageSize=${stories.length}`)
for (const { blueprint } of projects) await ask('POST', `/blueprints/${blueprint.id}/trigger`, {})
await untilCollected()
say(`the demo is ready: open ${server}. Ctrl-C ends it; what it made is in ${folder}.`)
