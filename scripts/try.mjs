/**
 * node scripts/try.mjs start | run demo: runs `npm start` or `npm run demo` as a reader of README.md does, asks the server for its
 * health, its version and its first page, and stops it. It is for the workflows, on every system.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

const LIMIT_MS = 15 * 60_000
const isWindows = process.platform === 'win32'
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const parameters = process.argv.slice(2)
if (parameters.length === 0) {
  console.error('weir: name the command of npm to try, for example: node scripts/try.mjs start')
  process.exit(1)
}

async function get(address) {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`${address} answers ${answer.status}.`)
  return answer.text()
}

async function check(address) {
  await get(`${address}/health`)
  const answer = JSON.parse(await get(`${address}/version`))
  if (answer.version !== version) throw new Error(`the server has version ${answer.version}, the package ${version}.`)
  if (!(await get(`${address}/`)).includes('/assets/')) throw new Error('the first page is not the web client.')
}

function stop(child) {
  // Windows has no signals, so the whole process tree is ended.
  if (isWindows) spawnSync('taskkill', ['/pid', String(child.pid), '/t', '/f'])
  else process.kill(-child.pid, 'SIGTERM')
}

const child = spawn('npm', parameters, { shell: isWindows, detached: !isWindows, stdio: ['ignore', 'pipe', 'inherit'] })
const ended = once(child, 'exit')
try {
  const address = await new Promise((ready, fail) => {
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      process.stdout.write(text)
      said += text
      const [, found] = /ready at (http:\S+)/.exec(said) ?? []
      if (found) ready(found)
    })
    child.once('exit', (code) => fail(new Error(`npm ${parameters.join(' ')} ended with code ${code}.`)))
    setTimeout(() => fail(new Error(`npm ${parameters.join(' ')} is not ready in time.`)), LIMIT_MS).unref()
  })
  await check(address)
  console.log(`weir: npm ${parameters.join(' ')} works`)
} catch (error) {
  console.error(`weir: ${error.message}`)
  process.exitCode = 1
}
if (child.exitCode === null) stop(child)
await ended
