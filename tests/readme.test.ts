/** Follows only the README, from a clone to the four keys: its commands are run as printed, with a fake GitHub. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { DEFAULT_TOKEN } from './fake-github/fake-github.ts'
import { type RunningCommand, startCommand } from './support/command.ts'
import { startOrganisation } from './support/organisation.ts'
import { freePort } from './support/servers.ts'

const root = join(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const section = readme.slice(readme.indexOf('## First numbers'), readme.indexOf('## Settings'))
const blocks = (language: string) =>
  [...section.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, text]) => text as string)

const FIVE_MINUTES = 5 * 60 * 1000

const folder = mkdtempSync(join(tmpdir(), 'weir-readme-'))
let server: RunningCommand | undefined
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

function freshClone(): string {
  // PostgreSQL runs as another user when tests run as root.
  chmodSync(folder, 0o755)
  const clone = join(folder, 'weir')
  execFileSync('git', ['clone', '--quiet', root, clone])
  // The packages that `npm start` would install are already here, so nothing outside this machine is contacted.
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
  return clone
}

it('gives the first four keys within five minutes, by the commands of the README', {
  timeout: FIVE_MINUTES,
}, async () => {
  const github = await startOrganisation()
  const clone = freshClone()
  const port = await freePort()
  const environment = { ...process.env, PORT: String(port), NODE_ENV: '', CI: '' }
  /** Replaces the parts that readers replace with their own values. */
  const own = (text: string) =>
    text
      .replace('https://api.github.com/', `${github.url}/`)
      .replace('YOUR_TOKEN', DEFAULT_TOKEN)
      .replaceAll(':8080', `:${port}`)

  const begun = Date.now()
  const [start, ...commands] = blocks('sh')
  expect(start).toBe('npm start\n')
  server = startCommand(['npm', 'start'], { cwd: clone, env: environment }, /Stop +Ctrl-C/)
  await server.ready
  expect(server.printed()).toContain(`Open     http://127.0.0.1:${port}`)
  expect(server.printed()).toContain('describe a project in weir.yaml, as README.md shows')

  const [file] = blocks('yaml')
  writeFileSync(join(clone, 'weir.yaml'), own(file ?? ''))
  const outputs = await run(own(commands.join('')), clone, environment)
  expect(Date.now() - begun).toBeLessThan(FIVE_MINUTES)

  // Printed before anything was collected.
  expect(outputs).toContain('Assumed for acme/* of github/main in project shop')
  expect(outputs).toMatch(/envNamePattern: \(\?i\)prod\(\.\*\) {2}\(Production environments\)/)
  const keys = outputs.slice(outputs.indexOf('The four keys of shop'))
  expect(keys).toMatch(/Deployment frequency +10 deployments in 2\d weeks/)
  expect(keys).toMatch(/Change lead time +1 d 12 h/)
  expect(keys).toMatch(/Change failure rate +10 %/)
  expect(keys).toMatch(/Failed deployment recovery time +\d+ (d|h)/)
  const [value, explanation] = keys.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  expect(value.values[0]).toMatchObject({ counted: 9, total: 10 })
  expect(explanation).toMatchObject({ value: value.values[0].value, leftOut: [{ reason: 'only_in_first_deployment' }] })
  expect(github.violations).toEqual([])
})

/** Runs commands as a person types them, all in one shell. */
async function run(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const separated = script.replace(/^curl .*$/gm, '$& --silent && echo')
  const child = spawn('sh', ['-e', '-c', separated], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const [code] = await once(child, 'close')
  expect(code, output).toBe(0)
  return output
}
