/**
 * npm run check:api: requests that Schemathesis makes from our own description, with every check and in all its phases.
 * DB_URL names the database (default: the embedded one, new); MAX_EXAMPLES and SEED say how much and what is sent.
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

async function check(program: string): Promise<number> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-schemathesis-'))
  const stranger = await startStranger()
  const server = startCli(['up'], {
    PORT: '0',
    DATA_FOLDER: dataFolder,
    AUTH: 'token',
    AUTH_TOKEN: TOKEN,
    REQUESTS_PER_MINUTE: '0',
    // Wrong keys are counted by address: hooks.py gives every request another one.
    TRUSTED_PROXIES: '127.0.0.0/8',
    LOGGING_LEVEL: 'error',
    // Nothing outside this machine is asked.
    ENDPOINT_CIDR_BLACKLIST: '0.0.0.0/0,::/0',
    ENDPOINT_CIDR_ALLOWED: '127.0.0.0/8',
    ...(process.env.DB_URL && { DB_URL: process.env.DB_URL }),
  })
  try {
    const [, url = ''] = await server.saw(/ready at (http:\S+)/)
    await seed(url, TOKEN, stranger.url)
    const run = spawn(
      program,
      [
        ...['--config-file', join(import.meta.dirname, 'schemathesis.toml')],
        ...['run', `${url}/swagger/doc.json`, '--header', `Authorization: Bearer ${TOKEN}`],
        ...['--max-examples', process.env.MAX_EXAMPLES ?? '20', '--seed', process.env.SEED ?? '1'],
        ...process.argv.slice(2),
      ],
      {
        stdio: 'inherit',
        cwd: dataFolder,
        env: {
          ...process.env,
          SCHEMATHESIS_HOOKS: 'hooks',
          PYTHONPATH: import.meta.dirname,
          PYTHONDONTWRITEBYTECODE: '1',
        },
      },
    )
    const [code] = await once(run, 'close')
    if (server.errors()) console.error(server.errors())
    return code ?? 1
  } finally {
    server.kill('SIGTERM')
    await server.ended
    stranger.close()
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

const { path, problem } = installProgram('schemathesis', VERSION, 'schemathesis')
process.exitCode = problem ? skip('Schemathesis', problem) : await check(path)
