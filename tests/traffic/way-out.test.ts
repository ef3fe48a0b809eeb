/** Commands that messages tell people to type must exist and help. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { trafficCommands } from '../../src/cli/traffic/commands.ts'
import { ElbError } from '../fake-aws/fake-elbv2.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { setStage } from './support/stage.ts'

const ROOT = join(import.meta.dirname, '../..')
/** These files contain commands for git, aws and kubectl, or read the arguments of a controller. */
const OF_OTHER_TOOLS = new Set(['gitops/repository.ts', 'render/render.ts', 'survey/controller-version.ts'])
const sources = (folder: string): readonly { readonly path: string; readonly text: string }[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !OF_OTHER_TOOLS.has(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, folder, path), 'utf8') }))

const flagsOf = new Map(trafficCommands.map((each) => [each.name(), new Set(each.options.map(({ long }) => long))]))
const allFlags = new Set([...flagsOf.values()].flatMap((flags) => [...flags]))

/** Returns commands and flags in a text that the command line does not have. */
function unknownIn(text: string): readonly string[] {
  const commands = [...text.matchAll(/npx weir traffic ([a-z]+)([^\n`'"|]*)/g)].flatMap(([, name = '', rest = '']) => {
    const flags = flagsOf.get(name)
    if (flags === undefined) return [name]
    const own = rest.split(/[.;#]\s/)[0]!
    return [...own.matchAll(/(?<=\s)--[a-z][a-z-]*/g)].flatMap(([flag]) => (flags.has(flag) ? [] : [`${name} ${flag}`]))
  })
  const flags = [...text.matchAll(/(?<=[\s`'"(])--[a-z][a-z-]*/g)].flatMap(([flag]) =>
    allFlags.has(flag) ? [] : [flag],
  )
  return [...commands, ...flags]
}

describe('commands and flags', () => {
  test('the test finds what is not known', () => {
    expect(unknownIn('use --override-gate, or npx weir traffic advnace shop')).toEqual(['advnace', '--override-gate'])
    expect(unknownIn('npx weir traffic status shop --confirm shop')).toEqual(['status --confirm'])
  })

  test('in the messages of the sources are those of the command line', () => {
    const files = [...sources('traffic'), ...sources('src/cli/traffic')]
    expect(files.length).toBeGreaterThan(60)
    for (const { path, text } of files) expect(unknownIn(text), path).toEqual([])
  })

  test('in the guide are those of the command line', () => {
    const guide = readFileSync(join(ROOT, 'docs/traffic.md'), 'utf8')
    const lines = guide.split('\n').filter((line) => line.includes('npx weir traffic'))
    expect(lines.length).toBeGreaterThan(20)
    for (const line of lines) expect(unknownIn(line), line).toEqual([])
  })
})

describeOneWithTables('messages with a way out', (database) => {
  const stage = setStage(database)
  const { start, go, shift } = stage
  const run = async (...args: readonly string[]) => {
    const { switchCommands } = await import('../../src/cli/traffic/switch-commands.ts')
    const { Command } = await import('commander')
    const command = new Command('traffic')
    for (const each of switchCommands((body) => body(stage.engine))) command.addCommand(each)
    const errors: string[] = []
    const { error } = console
    console.error = (text: string) => void errors.push(text)
    try {
      await command.parseAsync([...args], { from: 'user' })
      return { code: process.exitCode ?? 0, text: errors.join('\n') }
    } finally {
      console.error = error
      process.exitCode = undefined
    }
  }

  test('a skipped check without a reason names the flags as they are typed', async () => {
    const row = await start()
    await shift(row, 1)
    await expect(go(row, 'advance', { overrideGates: true, acceptLive: true })).rejects.toThrow(
      '--override-gates and --accept-live skip a check: say why with --reason.',
    )
  })

  test('gates, dwell and quiet time', async () => {
    const row = await start((plan) => {
      plan.steps[1]!.gates = [{ kind: 'approval' }]
      plan.steps[2]!.dwellSeconds = 600
    })
    await shift(row, 1)
    await expect(go(row, 'advance')).rejects.toThrow(`npx weir traffic approve ${row.id}`)
    await go(row, 'advance', { overrideGates: true, reason: 'test' })
    await expect(go(row, 'advance')).rejects.toThrow('--override-gates --reason "why" does not')
    await go(row, 'advance', { overrideGates: true, reason: 'test' })
    await go(row, 'advance')
    stage.world.pointDnsAt('target')
    await go(row, 'dns')
    await expect(go(row, 'cleanup', { confirm: 'another' })).rejects.toThrow(`--confirm ${stage.world.plan.name}`)
    await expect(go(row, 'cleanup', { confirm: stage.world.plan.name })).rejects.toThrow(
      /--wait waits; --skip-quiet --reason "why" does not\. The plan has \d+ minutes as dns\.quietMinutes/,
    )
  })

  test('a rollback that is throttled says what is tried next', async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
    await shift(row, 1)
    stage.world.elb.intercept = () => new ElbError('Throttling', 'Rate exceeded')
    await expect(go(row, 'rollback')).rejects.toThrow(
      new RegExp(`Rate exceeded.*tries the rollback again every ten seconds.*npx weir traffic rollback ${row.id}`, 's'),
    )
  })

  test('a cluster that does not answer is no unexpected failure', async () => {
    const row = await start((plan) => (plan.verifyTimeoutSeconds = 1))
    await go(row, 'prepare')
    stage.world.current.intercept = () => 503
    expect(await run('advance', row.id, '--dry-run')).toMatchObject({
      code: 5,
      text: expect.stringMatching(/^weir: Cannot read Ingress shop\/web in cluster blue/),
    })
  })

  test('refused credentials of AWS and of Kubernetes have an exit code of their own', async () => {
    const row = await start()
    await go(row, 'prepare')
    stage.world.elb.intercept = () => new ElbError('InvalidClientTokenId', 'The security token is invalid')
    const aws = await run('advance', row.id)
    expect(aws).toMatchObject({ code: 6, text: expect.stringContaining('Use other credentials: AWS_PROFILE') })
    stage.world.elb.intercept = () => undefined
    for (const [status, remedy] of [
      [401, 'Renew the credentials'],
      [403, 'Give this user the right'],
    ] as const) {
      stage.world.current.intercept = () => status
      const cluster = await run('advance', row.id)
      expect(cluster).toMatchObject({ code: 6, text: expect.stringContaining(remedy) })
      stage.world.current.intercept = () => undefined
    }
    expect(await run('advance', row.id)).toMatchObject({ code: 0 })
    stage.world.current.intercept = () => 401
    const back = await run('rollback', row.id)
    expect(back).toMatchObject({ code: 6, text: expect.stringContaining('Renew the credentials') })
    expect(back.text).toContain('The load balancer already sends everything to cluster blue')
    expect(stage.world.liveWeights()).toEqual([100, 0])
    stage.world.current.intercept = () => undefined
    expect(await run('rollback', row.id)).toMatchObject({ code: 0 })
  })
})
