/**
 * npm run check:api: requests that Schemathesis makes from Weir's description, with every check and in all its phases. DB_URL
 * names the database (default: a new embedded one). MAX_EXAMPLES and SEED choose the number and content of requests.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCli } from '../support/cli.ts'
import { skip } from '../support/extra-check.ts'
import { installProgram } from '../support/pypi.ts'
import { seed, startStranger } from './seed.ts'

const VERSION = '4.32.5'
const TOKEN = 'a token that is only used in tests'.replaceAll(' ', '-')

const SINGLE = ['--phases', 'examples,coverage,fuzzing']
const STATEFUL = ['--phases', 'stateful', '--include-path-regex']

/**
 * Returns patterns of operations that work together: those of one plugin, of the control plane, of pages. They run one after
 * another, because for all at once Schemathesis infers forty thousand links and follows none.
 */
async function groups(url: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${TOKEN}` }
  const { paths } = (await (await fetch(`${url}/swagger/doc.json`, { headers })).json()) as { paths: object }
  const plugins = Object.keys(paths).flatMap((path) => /^\/plugins\/(\w+)\/connections$/.exec(path)?.[1] ?? [])
  return [...plugins.map((name) => `^/plugins/${name}/`), '^/(?!plugins/|v1/)', '^/v1/(?!traffic)', '^/v1/traffic']
}

async function check(program: string): Promise<number> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-schemathesis-'))
  const stranger = await startStranger()
  const server = startCli(['up'], {
    PORT: '0',
    DATA_FOLDER: dataFolder,
    AUTH: 'token',
    AUTH_TOKEN: TOKEN,
    REQUESTS_PER_MINUTE: '0',
    // Wrong keys are counted per address, so hooks.py gives every request another address.
    TRUSTED_PROXIES: '127.0.0.0/8',
    LOGGING_LEVEL: 'error',
    // Nothing outside this machine is contacted.
    ENDPOINT_CIDR_BLACKLIST: '0.0.0.0/0,::/0',
    ENDPOINT_CIDR_ALLOWED: '127.0.0.0/8',
    ...(process.env.DB_URL && { DB_URL: process.env.DB_URL }),
  })
  try {
    const [, url = ''] = await server.saw(/ready at (http:\S+)/)
    await seed(url, TOKEN, stranger.url)
    const own = process.argv.slice(2)
    const parts = own.length > 0 ? [own] : [SINGLE, ...(await groups(url)).map((group) => [...STATEFUL, group])]
    const failed: string[] = []
    for (const part of parts) {
      const settings = [
        '--config-file',
        join(import.meta.dirname, 'schemathesis.toml'),
        'run',
        `${url}/swagger/doc.json`,
        '--header',
        `Authorization: Bearer ${TOKEN}`,
        '--max-examples',
        process.env.MAX_EXAMPLES ?? '20',
        '--seed',
        process.env.SEED ?? '1',
      ]
      const run = spawn(program, [...settings, ...part], {
        stdio: ['ignore', 'pipe', 'inherit'],
        cwd: dataFolder,
        env: {
          ...process.env,
          SCHEMATHESIS_HOOKS: 'hooks',
          PYTHONPATH: import.meta.dirname,
          PYTHONDONTWRITEBYTECODE: '1',
        },
      })
      let said = ''
      run.stdout.on('data', (chunk: Buffer) => {
        said += chunk
        process.stdout.write(chunk)
      })
      const [code] = await once(run, 'close')
      // Schemathesis also exits with 0 if it found nothing to do.
      if (code !== 0 || said.includes('No tests were run')) failed.push(part.join(' '))
    }
    for (const part of failed) console.error(`weir: failed, or nothing was tried: ${part}`)
    const code = failed.length
    if (server.errors()) console.error(server.errors())
    return code > 0 ? 1 : 0
  } finally {
    server.kill('SIGTERM')
    await server.ended
    stranger.close()
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

const { path, problem } = installProgram('schemathesis', VERSION, 'schemathesis')
process.exitCode = problem ? skip('Schemathesis', problem) : await check(path)
