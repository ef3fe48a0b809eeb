/** The image, without a container: the Dockerfile is checked, and with FULL_SIZE=true its steps run in an empty folder. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import launch from '../../scripts/launch.json' with { type: 'json' }
import { pinned } from '../../scripts/pin-images.ts'
import { freePort } from '../support/servers.ts'
import {
  all,
  environmentOf,
  isSent,
  parseCopy,
  parseDockerfile,
  repositoryFiles,
  type Stage,
} from './support/dockerfile.ts'
import { defaultPort, isCommand, isPinnedImage, isProbe, isSetting, read, root } from './support/weir.ts'

const stages = parseDockerfile(read('Dockerfile'))
const final = stages.at(-1) as Stage
const only = (name: string): string => {
  const found = all(final, name)
  expect(found, name).toHaveLength(1)
  return found[0] as string
}
const entry: string[] = JSON.parse(only('ENTRYPOINT'))
const command: string[] = JSON.parse(only('CMD'))
const health: string[] = JSON.parse(only('HEALTHCHECK').replace(/^.*?CMD /, ''))

/** Steps with the system's own programs need root in a container. */
const isOfSystem = (run: string) => run.startsWith('apt-get ')

describe('the Dockerfile', () => {
  it('builds in stages, from pinned images', () => {
    expect(stages.map(({ name }) => name)).toEqual(['build', 'packages', 'final'])
    for (const { image } of stages) expect(isPinnedImage(image) || /:bookworm-slim(@|$)/.test(image), image).toBe(true)
    // The release adds digests to image names, and replaces existing digests.
    const digest = (digit: string) => `sha256:${digit.repeat(64)}`
    const first = pinned(read('Dockerfile'), () => digest('1'))
    expect(parseDockerfile(first).map(({ image }) => image.split('@')[1])).toEqual(stages.map(() => digest('1')))
    expect(pinned(first, () => digest('2'))).toBe(first.replaceAll(digest('1'), digest('2')))
    expect(pinned(read('deploy/compose.yaml'), () => digest('1')).match(/sha256/g)?.length).toBeGreaterThan(2)
  })

  it('runs as a user without rights, from files that it need not write', () => {
    expect(only('USER')).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/)
    expect(only('VOLUME')).toBe(environmentOf(final).DATA_FOLDER)
    expect(all(final, 'RUN').join()).toContain(`--owner=${only('USER').split(':')[0]}`)
  })

  it('has no tools that build, and no sources, in the result', () => {
    expect(final.image).not.toMatch(/node/)
    const [install = ''] = all(final, 'RUN')
    expect(install).not.toMatch(/npm|python|gcc|g\+\+|make\b|build-essential/)
    expect(install).toMatch(/ git /)
    const copied = all(final, 'COPY').flatMap((text) => parseCopy(text).sources)
    expect(copied.filter((source) => /^(\.|src|web|tests)$/.test(source))).toEqual([])
    expect(all(stages[1] as Stage, 'RUN')[0]).toMatch(/else parts=--workspaces=false; fi && npm ci --omit=dev \$parts /)
  })

  it('starts the server as the launcher does', () => {
    expect(entry).toEqual(['node', ...launch.flags, '/app/dist/src/main.js'])
    expect(isCommand(command)).toBe(true)
    expect(environmentOf(final)).toMatchObject(launch.environment)
    for (const name of Object.keys(environmentOf(final))) {
      expect(isSetting(name) || name in launch.environment, name).toBe(true)
    }
  })

  it('exposes the port that the server listens on, and asks a route that exists for its health', () => {
    expect(only('EXPOSE')).toBe(String(defaultPort))
    expect(environmentOf(final).PORT).toBe(String(defaultPort))
    expect(isProbe(/\$\{process\.env\.PORT\}(\/\w+)/.exec(health.at(-1) ?? '')?.[1] ?? '')).toBe(true)
  })

  it('copies only files that exist and that the builder sees', () => {
    const files = repositoryFiles().filter(isSent)
    for (const stage of stages) {
      for (const { from, sources } of all(stage, 'COPY').map(parseCopy)) {
        if (from) expect(stages.map(({ name }) => name)).toContain(from)
        else for (const source of sources) expect(source === '.' || files.includes(source), source).toBe(true)
      }
    }
    expect(files.filter((path) => /\.test\.tsx?$|^tests\/|^docs\/|\.env$|^\.git/.test(path))).toEqual([])
  })
})

const folder = mkdtempSync(join(tmpdir(), 'weir-image-'))
let server: ChildProcess | undefined
afterAll(async () => {
  if (server && server.exitCode === null) {
    server.kill('SIGKILL')
    await once(server, 'exit')
  }
  if (existsSync(folder)) execFileSync('chmod', ['-R', 'u+w', folder])
  rmSync(folder, { recursive: true, force: true })
})

const inStage = (stage: string, path: string) => join(folder, stage, path)

/** Runs a stage. A folder represents its file system, and files that are missing there belong to the stage's base image. */
function runStage(stage: Stage, context: readonly string[]): void {
  let place = '/'
  const environment = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`, CI: '' }
  for (const { name, text } of stage.instructions) {
    if (name === 'WORKDIR') {
      place = text
      mkdirSync(inStage(stage.name, place), { recursive: true })
    }
    if (name === 'COPY') copy(stage, place, text, context)
    if (name === 'RUN' && !isOfSystem(text)) {
      execFileSync('sh', ['-e', '-c', text], {
        cwd: inStage(stage.name, place),
        env: environment,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
    }
  }
}

function copy(stage: Stage, place: string, text: string, context: readonly string[]): void {
  const { from, sources, target } = parseCopy(text)
  const base = inStage(stage.name, target.startsWith('/') ? target : join(place, target))
  for (const source of sources) {
    if (from) {
      const made = inStage(from, source)
      cpSync(existsSync(made) ? made : join(dirname(process.execPath), basename(source)), base, {
        recursive: true,
        verbatimSymlinks: true,
      })
    } else if (source === '.') {
      for (const path of context) cpSync(join(root, path), join(base, path))
    } else {
      cpSync(join(root, source), target.endsWith('/') ? join(base, basename(source)) : base)
    }
  }
}

/** PostgreSQL needs an account with a name. The account of USER exists only in the image, so another one without rights replaces it. */
const idOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined

if (process.env.FULL_SIZE === 'true') {
  it('its steps, run in an empty folder, give a server that starts', { timeout: 10 * 60_000 }, async () => {
    chmodSync(folder, 0o755)
    const context = repositoryFiles().filter(isSent)
    for (const stage of stages) runStage(stage, context)
    expect(existsSync(inStage('final', '/app/node_modules/vite'))).toBe(false)
    expect(existsSync(inStage('final', '/app/src'))).toBe(false)

    const data = join(folder, 'data')
    mkdirSync(data, { mode: 0o700 })
    if (user) chownSync(data, user.uid, user.gid)
    execFileSync('chmod', ['-R', 'a-w', inStage('final', '/app')])

    const port = await freePort()
    const own = { ...environmentOf(final), HOST: '127.0.0.1', PORT: String(port), DATA_FOLDER: data }
    const environment = { PATH: process.env.PATH, HOME: data, ...own }
    const node = inStage('final', '/usr/local/bin/node')
    expect(statSync(node).mode & 0o111).not.toBe(0)
    const parameters = [...entry.slice(1), ...command].map((each) =>
      each.startsWith('/') ? inStage('final', each) : each,
    )
    server = spawn(node, parameters, {
      cwd: inStage('final', '/app'),
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
      ...user,
    })
    let said = ''
    await new Promise<void>((ready, failed) => {
      server?.stdout?.setEncoding('utf8').on('data', (text) => {
        said += text
        if (said.includes('weir: ready at')) ready()
      })
      server?.once('exit', () => failed(new Error(`the server ended: ${said}`)))
    })
    execFileSync(node, health.slice(1), { env: environment })
    const page = await fetch(`http://127.0.0.1:${port}/`)
    expect(await page.text()).toContain('/assets/')
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    // The health check fails after the server has ended.
    expect(() => execFileSync(node, health.slice(1), { env: environment, stdio: 'ignore' })).toThrow()
  })
}
