/** Everything that the workflow files and the systemd unit name exists. */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import packageFile from '../../package.json' with { type: 'json' }
import { isCommand, isSetting, read, root } from './support/weir.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, string>>
}
interface Job {
  readonly needs?: string
  readonly permissions?: Readonly<Record<string, string>>
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> }
  readonly 'runs-on': string
  readonly 'timeout-minutes': number
  readonly steps: readonly Step[]
}
interface Workflow {
  readonly name: string
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const paths = globSync('.github/workflows/*.yml', { cwd: root }).sort()
const workflowOf = (path: string): Workflow => parse(read(path))
const stepsOf = (path: string) => Object.values(workflowOf(path).jobs).flatMap(({ steps }) => steps)
const runsOf = (path: string) => stepsOf(path).flatMap(({ run = [] }) => run)

it('there is a workflow for changes, and one for releases', () => {
  expect(paths).toEqual(['.github/workflows/ci.yml', '.github/workflows/release.yml'])
})

describe.each(paths)('%s', (path) => {
  const workflow = workflowOf(path)

  it('has jobs that end, with few rights, and with steps of a pinned version', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' })
    for (const [name, job] of Object.entries(workflow.jobs)) {
      expect(job['timeout-minutes'], name).toBeGreaterThan(0)
      if (job.needs) expect(Object.keys(workflow.jobs)).toContain(job.needs)
      for (const { uses, run } of job.steps) {
        expect((uses === undefined) !== (run === undefined), name).toBe(true)
        if (uses) expect(uses).toMatch(/^[\w-]+\/[\w-]+@v\d+$/)
      }
    }
  })

  it('names files, scripts and values of the matrix that exist', () => {
    const text = read(path)
    for (const [, script] of text.matchAll(/npm run (?:--silent )?([\w:-]+)/g))
      expect(packageFile.scripts).toHaveProperty([script as string])
    for (const [file] of text.matchAll(/(?<![\w./-])(?:scripts|tests|deploy)\/[\w./-]*\w/g))
      expect(existsSync(join(root, file)), file).toBe(true)
    for (const { strategy, 'runs-on': system, steps } of Object.values(workflow.jobs)) {
      for (const [, name] of JSON.stringify([system, steps]).matchAll(/matrix\.(\w+)/g)) {
        expect(Object.keys(strategy?.matrix ?? {})).toContain(name)
      }
    }
  })

  it('has no secret in clear', () => {
    for (const [, value = ''] of read(path).matchAll(/(?:TOKEN|PASSWORD|SECRET|password): *(.+)/g)) {
      expect(value).toMatch(/^\$\{\{ .+ \}\}$/)
    }
  })
})

it('the commands of the README that start Weir run on Linux, macOS and Windows, its tests on Linux', () => {
  const readme = read('README.md')
  const commands = [...readme.slice(readme.indexOf('## Start')).matchAll(/^\| `npm ([\w ]+)` \|/gm)].map(
    ([, command]) => command,
  )
  expect(commands).toContain('test')
  expect(runsOf('.github/workflows/ci.yml')).toContain('npm test')
  const job = workflowOf('.github/workflows/ci.yml').jobs.start as Job
  expect(job.strategy?.matrix.command?.toSorted()).toEqual(commands.filter((each) => each !== 'test').toSorted())
  expect(job.strategy?.matrix.os?.map((os) => os.split('-')[0])).toEqual(['ubuntu', 'macos', 'windows'])
  expect(job.steps.at(-1)?.run).toMatch(/^node scripts\/try\.mjs \$\{\{ matrix\.command \}\}$/)
})

it('a release has its provenance and its list of parts, after the audit', () => {
  const uses = stepsOf('.github/workflows/release.yml').map(({ uses: each }) => each?.split('@')[0])
  expect(uses.filter((each) => each === 'actions/attest-build-provenance')).toHaveLength(2)
  expect(uses).toContain('actions/attest-sbom')
  const runs = runsOf('.github/workflows/release.yml')
  expect(runs.indexOf('npm audit --omit=dev --audit-level=high')).toBeGreaterThan(-1)
  expect(runs.indexOf('npm audit --omit=dev --audit-level=high')).toBeLessThan(runs.indexOf('npm pack'))
  for (const { permissions } of Object.values(workflowOf('.github/workflows/release.yml').jobs)) {
    expect(permissions).toMatchObject({ 'id-token': 'write', attestations: 'write' })
  }
})

describe('weir.service', () => {
  const lines = read('deploy/weir.service').split('\n')
  const valuesOf = (key: string) =>
    lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1))

  it('runs a command of the package, with settings of Weir', () => {
    const [start = ''] = valuesOf('ExecStart')
    const [program, ...words] = start.split(' ')
    expect(program).toBe(`${valuesOf('WorkingDirectory')[0]}/node_modules/.bin/weir`)
    expect(isCommand(words)).toBe(true)
    for (const setting of valuesOf('Environment'))
      expect(isSetting(setting.split('=')[0] as string), setting).toBe(true)
  })

  it('can write to its own folder only, and gains no rights', () => {
    const folder = `/var/lib/${valuesOf('StateDirectory')[0]}`
    expect(valuesOf('Environment')).toContain(`DATA_FOLDER=${folder}`)
    for (const [key, value] of Object.entries({
      ProtectSystem: 'strict',
      NoNewPrivileges: 'true',
      CapabilityBoundingSet: '',
      User: 'weir',
    })) {
      expect(valuesOf(key)).toEqual([value])
    }
    expect(valuesOf('MemoryDenyWriteExecute')).toEqual([])
  })

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
  it.runIf(hasSystemd)('is understood by systemd', () => {
    const { stderr } = spawnSync('systemd-analyze', ['verify', join(root, 'deploy/weir.service')], { encoding: 'utf8' })
    const ours = stderr
      .split('\n')
      .filter((line) => line.includes('weir.service') && !/is not executable|Failed to (?:connect|create)/.test(line))
    expect(ours).toEqual([])
  })
})
