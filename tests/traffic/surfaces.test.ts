import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { switchCommands } from '../../src/cli/traffic/switch-commands.ts'
import type { Database } from '../../src/database/database.ts'
import { engineOn } from '../../traffic/engine/connect.ts'
import { act, approve } from '../../traffic/engine/engine.ts'
import { getSwitch, journalOf } from '../../traffic/engine/store.ts'
import { joinFiles, phasesOf, renderPhase } from '../../traffic/render/render.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { putEnvironmentBack } from '../support/environment.ts'
import { programEnvironment, programFile } from '../support/programs.ts'
import { SHOP_YAML, shopPlan } from './support/shop.ts'
import { startWorld, type World } from './support/world.ts'

const MAIN = programFile('src/main.ts')
const ENVIRONMENT = { ...process.env, ...programEnvironment(), LOGGING_LEVEL: 'silent' }
const BASE = '/v1/traffic-switches'
const folder = mkdtempSync(join(tmpdir(), 'weir-traffic-cli-'))
const shopFile = join(folder, 'shop.yaml')
writeFileSync(shopFile, SHOP_YAML)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}
const weir = (args: readonly string[], environment: Record<string, string> = {}, input = ''): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, 'traffic', ...args], {
      env: { ...ENVIRONMENT, ...environment },
    })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => (err += chunk))
    child.on('error', reject).on('close', (code) => resolve({ code, out, err }))
    child.stdin.end(input)
  })

/** Runs the same commands in this process: a database test needs many, and a separate process costs a second each. */
async function weirHere(database: Database, args: readonly string[]): Promise<Ended> {
  const [out, err] = [[] as string[], [] as string[]]
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => out.push(String(text)) > 0)
  const stderr = vi.spyOn(console, 'error').mockImplementation((text) => void err.push(String(text)))
  const traffic = new Command('traffic')
  for (const command of switchCommands((body) => body({ ...engineOn(database), pollMs: 5 })))
    traffic.addCommand(command)
  try {
    await traffic.parseAsync([...args], { from: 'user' })
    return { code: Number(process.exitCode ?? 0), out: out.join(''), err: err.join('') }
  } finally {
    process.exitCode = undefined
    stdout.mockRestore()
    stderr.mockRestore()
  }
}

describe('the command line without a database', () => {
  test('bad input: a precise message, and exit code 2', async () => {
    const wrong = SHOP_YAML.replace('target: 10 }', "target: '10' }").replace(
      'current: 50, target: 50',
      'current: -1, target: 10.5',
    )
    const { code, out } = await weir(['lint', '-', '--json'], {}, wrong)
    expect(code).toBe(2)
    expect(JSON.parse(out)).toMatchObject([
      { code: 'TS-W01', path: 'steps[1].weights.target', line: 50 },
      { code: 'TS-W02', path: 'steps[2].weights.current' },
      { code: 'TS-W01', path: 'steps[2].weights.target' },
    ])
    const region = await weir(
      ['render', '-'],
      {},
      SHOP_YAML.replace('arn:aws:elasticloadbalancing:eu-central-1', 'arn:aws:elasticloadbalancing:us-east-1'),
    )
    expect(region).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('TS-T03 targetGroup.arn: the ARN has region us-east-1, the plan eu-central-1'),
    })
  })

  test('the first walk of the guide, word for word', async () => {
    const guide = readFileSync(new URL('../../docs/traffic.md', import.meta.url), 'utf8')
    const blocks = [...guide.slice(guide.indexOf('## An example')).matchAll(/```sh\n(.*?)```/gs)].map(
      ([, text]) => text!,
    )
    const walk = blocks.slice(0, 2).join('')
    expect(walk.match(/npx weir traffic \w+/g)).toHaveLength(5)
    const script = `npx() { shift; "${process.execPath}" "${MAIN}" "$@"; }\n${walk}`
    const home = mkdtempSync(join(folder, 'walk-'))
    const child = spawn('sh', ['-e', '-c', script], { cwd: home, env: ENVIRONMENT })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => (err += chunk))
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('0 errors')
    expect(out).toMatch(/weight: 90 → 50/)
  })

  test('init, render into a folder, diff and simulate', async () => {
    const [init, routes, out, phase, diff, simulation, chart] = await Promise.all([
      weir(['init', 'shop', '--preset', 'careful']),
      weir(['init', 'shop', '--routes', 'web, cart']),
      weir(['render', shopFile, '--out', join(folder, 'out')]),
      weir(['render', shopFile, '--out', join(folder, 'phase'), '--phase', 'rollback']),
      weir(['diff', shopFile, '--from', 'step-0', '--to', 'step-1', '--json']),
      weir(['simulate', shopFile, '--clients', '100', '--json']),
      weir(['simulate', shopFile, '--clients', '100']),
    ])
    expect(init.out).toContain('current: 99, target: 1')
    expect(init.out).toContain('npx weir traffic init shop --routes web,cart')
    expect(routes.out).toMatch(/^ {2}- name: web\n.*^ {2}- name: cart\n.*path: \/cart$/ms)
    expect(out).toMatchObject({ code: 0, err: '' })
    const readme = readFileSync(join(folder, 'out/README.md'), 'utf8')
    const named = [...readme.matchAll(/\]\((.+?)\/README\.md\)/g)].map(([, phase]) => phase)
    expect(named).toEqual(phasesOf(shopPlan()))
    expect(readme).toMatch(/^3\. \[`step-1`\].*: 90 % .*, 10 % /m)
    expect(phase).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/^\d+ files? of rollback (is|are) in /),
    })
    expect(readdirSync(join(folder, 'phase'))).toEqual(['rollback'])
    expect(chart.out).toContain('This was a simulation: it applies nothing to the clusters.')
    expect(readFileSync(join(folder, 'out/step-1/04-current-ingress.yaml'), 'utf8')).toContain('"weight":90')
    expect(JSON.parse(diff.out)).toHaveLength(2)
    expect(JSON.parse(simulation.out)).toMatchObject({ seed: 1, timeTo99Seconds: 0 })
  })
})

test('whoever reads only the first lines closes the pipe, and that is no failure', async () => {
  const child = spawn(process.execPath, [MAIN, 'traffic', 'render', shopFile], {
    env: ENVIRONMENT,
  })
  child.stdout.destroy()
  let err = ''
  child.stderr.on('data', (chunk) => (err += chunk))
  expect([await new Promise((resolve) => child.on('close', resolve)), err]).toEqual([0, ''])
})

describe('the command line where no database is', () => {
  test('looks at clusters and plans, and makes none', async () => {
    const world = await startWorld()
    const data = mkdtempSync(join(folder, 'empty-'))
    const environment = { ...world.environment, DB_URL: '', DATA_FOLDER: data }
    const file = join(data, 'plan.yaml')
    writeFileSync(file, stringify(world.plan))
    const [all, one, dryRun, later] = await Promise.all([
      weir(['status', '--json'], environment),
      weir(['status', 'shop'], environment),
      weir(['prepare', file, '--dry-run'], environment),
      weir(['advance', file, '--dry-run'], environment),
    ])
    await world.close()
    expect(all).toMatchObject({ code: 0, out: '[]\n' })
    expect(one).toMatchObject({ code: 2, err: expect.stringContaining('There is no traffic switch shop') })
    expect(dryRun).toMatchObject({ code: 0, out: expect.stringContaining('target-group: would change') })
    expect(later.code).toBe(2)
    expect(readdirSync(data)).toEqual(['plan.yaml'])
    expect(world.elb.calls).toEqual([])
  })
})

describeOneWithTables('surfaces', (database) => {
  let api: TestApi
  let world: World
  let address: string
  const saved = { ...process.env }

  beforeAll(async () => {
    world = await startWorld()
    Object.assign(process.env, world.environment)
    api = await startTestApi(database.database)
    address = await api.server.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    putEnvironmentBack(saved)
    await api.close()
    await world.close()
  })

  test('REST and command line give the same bytes for every phase', async () => {
    const { status, body } = await api.ask('POST', BASE, { yaml: SHOP_YAML })
    expect([status, body.state]).toEqual([201, 'draft'])
    const out = join(folder, `same-${database.engine}`)
    await weir(['render', shopFile, '--out', out])
    expect((await api.ask('GET', `${BASE}/${body.id}/manifests?phase=step-2`)).text).toBe(
      joinFiles(renderPhase(shopPlan(), 'step-2')),
    )
    for (const phase of phasesOf(shopPlan())) {
      const files = JSON.parse((await api.ask('GET', `${BASE}/${body.id}/manifests?phase=${phase}&format=json`)).text)
      for (const { path, content } of files) expect(content).toBe(readFileSync(join(out, phase, path), 'utf8'))
    }
  })

  test('a wrong plan is refused with its findings', async () => {
    const plan: any = structuredClone(shopPlan())
    plan.steps[1].weights = { current: 0, target: 0 }
    expect(await api.ask('POST', BASE, plan)).toMatchObject({
      status: 422,
      body: { success: false, data: { findings: [{ code: 'TS-W04', path: 'steps[1].weights' }] } },
    })
    expect(await api.ask('GET', `${BASE}/nothing`)).toMatchObject({ status: 404 })
    const lint = await api.ask('POST', `${BASE}/lint`, {
      yaml: 'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: { name: a, annotations: { alb.ingress.kubernetes.io/actions.a: "{" } }\nspec: {}',
    })
    expect(lint.body).toMatchObject([{ code: 'TS-A06' }, { code: 'TS-A07' }])
  })

  test('the whole life over REST, told by server-sent events', async () => {
    const { body: created } = await api.ask('POST', BASE, world.plan)
    const url = `${BASE}/${created.id}`
    const go = (action: string, more: object = {}) => api.ask('POST', `${url}/transitions`, { action, ...more })
    const stream = fetch(`${address}${url}/events`).then((response) => response.text())

    expect((await api.ask('GET', url)).headers.etag).toBe('"1"')
    expect((await api.ask('POST', `${url}/validate`)).body).toMatchObject([{ code: 'TS-S03' }, { code: 'TS-S03' }])
    expect((await api.ask('POST', `${url}/simulate`, { clients: 50 })).body.timeTo99Seconds).toBe(0)
    expect((await go('prepare', { dryRun: true })).body.dryRun).toContainEqual(
      expect.stringContaining('target-group: would change'),
    )
    expect(await go('advance')).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('Cannot advance while the switch is draft') },
    })
    expect(await go('prepare', { expectedVersion: 99 })).toMatchObject({ status: 412 })
    expect(await go('prepare')).toMatchObject({ status: 200, body: { state: 'prepared' } })
    expect(await api.ask('PUT', url, world.plan)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('only a draft can be edited') },
    })
    const arn = (await api.ask('GET', url)).body.targetGroupArn
    expect((await api.ask('POST', `${url}/diff`, { from: 'step-1', to: 'step-2' })).body).toMatchObject([
      { before: 90, after: 50 },
      { path: expect.stringContaining(arn), before: 10, after: 50 },
    ])
    expect((await api.ask('POST', `${url}/diff`, { live: true, to: 'step-1' })).body).toContainEqual(
      expect.objectContaining({ path: expect.stringContaining('web:80"].weight'), before: 100, after: 90 }),
    )
    for (let step = 0; step < 4; step++) await go('advance')
    expect((await api.ask('GET', `${url}/gates`)).body).toEqual([])
    world.pointDnsAt('target')
    expect((await go('dns')).body.state).toBe('dns-switched')
    expect(await go('cleanup', { confirm: world.plan.name })).toMatchObject({
      status: 409,
      body: { data: { trouble: 'gate' } },
    })
    expect((await go('cleanup', { confirm: world.plan.name, skipQuiet: true, reason: 'test' })).body.state).toBe(
      'cleaned-up',
    )

    const events = (await stream)
      .split('\n\n')
      .filter((event) => event.startsWith('data: '))
      .map((event) => JSON.parse(event.slice(6)))
    expect(events).toEqual((await api.ask('GET', `${url}/journal`)).body)
    expect(events.filter(({ kind }) => kind === 'state').map(({ effect }) => effect)).toEqual([
      'draft',
      'preparing',
      'prepared',
      'shifting',
      'verified',
      'shifting',
      'verified',
      'shifting',
      'verified',
      'switched',
      'dns-switched',
      'cleaning',
      'cleaned-up',
    ])
    expect(await go('rollback')).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('npx weir traffic reverse') },
    })
    expect((await api.ask('POST', `${url}/reverse`, {})).body).toMatchObject({ state: 'draft', name: 'shop-web-back' })
    world.pointDnsAt('current')
  })

  test('the command line: exit codes of conflict, edit and gate', async () => {
    const plan = structuredClone(world.plan)
    plan.name = 'by-hand'
    plan.steps[1]!.gates = [{ kind: 'approval' }]
    const file = join(folder, `${database.engine}.yaml`)
    writeFileSync(file, stringify(plan))
    expect(await weirHere(database.database, ['rollback', file])).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no traffic switch by-hand'),
    })
    expect(await weirHere(database.database, ['prepare', file, '--dry-run'])).toMatchObject({ code: 0 })
    expect((await weirHere(database.database, ['status'])).out).not.toContain('by-hand')
    expect(await weirHere(database.database, ['prepare', file, '--json'])).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('"state": "prepared"'),
    })
    expect(await weirHere(database.database, ['advance', file])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/: shifting, 90 % blue, 10 % green\n {2}step 1 of 3 \(90\/10\) is in force\n/),
    })
    expect(await weirHere(database.database, ['advance', 'by-hand'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('approval pending'),
    })
    expect((await weirHere(database.database, ['status', 'by-hand'])).out).toMatch(
      /live: 90\/10 on 1 rule; planned 90\/10; 2 of 2 targets healthy\n {2}gate approval: pending.*\n {2}next: step 2 of 3 \(50\/50\) comes when somebody advances, and only when gate approval passes/i,
    )
    plan.steps[2]!.weights = { current: 20, target: 80 }
    writeFileSync(file, stringify(plan))
    const calls = world.current.calls.length
    expect(await weirHere(database.database, ['advance', file])).toMatchObject({
      code: 4,
      err: expect.stringMatching(/nothing was applied.*steps\[2\]\.weights\.target: 50 → 80/s),
    })
    expect(world.current.calls).toHaveLength(calls)
    expect(await weirHere(database.database, ['cleanup', 'by-hand', '--confirm', 'by-hand'])).toMatchObject({
      code: 4,
      err: expect.stringContaining('after the DNS switch is confirmed'),
    })
    // The file has changed by now, but a rollback does not read it.
    expect(await weirHere(database.database, ['rollback', file])).toMatchObject({
      code: 0,
      out: expect.stringContaining(': rolled back, 100 % blue'),
    })
    expect(world.liveWeights()).toEqual([100, 0])
    const status = JSON.parse((await weirHere(database.database, ['status', 'by-hand', '--json'])).out)
    expect(status).toMatchObject({
      state: 'rolled-back',
      journal: expect.arrayContaining([expect.objectContaining({ kind: 'intent', effect: 'rollback-weights' })]),
    })
  })

  test('--wait tells what it waits for once, fills no journal, and stops when somebody pauses', async () => {
    const { database: own } = database
    const plan = structuredClone(world.plan)
    plan.name = 'waiting'
    plan.steps[1]!.gates = [{ kind: 'approval' }]
    const file = join(folder, `${database.engine}-waiting.yaml`)
    writeFileSync(file, stringify(plan))
    await own.kysely.deleteFrom('_weir_traffic_claims').execute()
    // Earlier tests leave their action in the Ingress.
    const prepared = await weirHere(own, ['prepare', file, '--accept-live', '--reason', 'test'])
    expect(prepared).toMatchObject({ code: 0 })
    const { id } = await getSwitch(own, 'waiting')
    let polls = 0
    const isPolled = own.kysely.withPlugin({
      transformQuery({ node }) {
        if (JSON.stringify(node).includes('lease_holder')) polls++
        return node
      },
      transformResult: async ({ result }) => result,
    })
    const ended = weirHere({ ...own, kysely: isPolled }, ['advance', 'waiting', '--wait'])
    const gates = async () => (await journalOf(own, id)).filter(({ kind }) => kind === 'gate')
    while ((await gates()).length === 0 || polls < 100) await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await gates()).map(({ detail }) => detail)).toEqual(['pending: waits for an approval'])
    const engine = { ...engineOn(own), pollMs: 5 }
    /** Repeats the work until it falls between two polls of the waiting command. */
    const inBetween = async (work: () => Promise<unknown>): Promise<unknown> => work().catch(() => inBetween(work))
    await inBetween(() => act(engine, id, { action: 'pause', actor: 'ada', reason: 'I saw something' }))
    await inBetween(() => approve(engine, id, 'ada'))
    const { code, err } = await ended
    // The switch was paused while the command slept, or just after the command had read the gate.
    if (code !== 3) expect([code, err]).toEqual([4, expect.stringContaining('was paused meanwhile: I saw something')])
    // The message is printed once, and again only when it changes.
    expect(err.match(/approval pending/g)!.length).toBeLessThan(5)
    expect(world.liveWeights()).toEqual([90, 10])
    expect((await getSwitch(own, id)).state).toBe('paused')
    expect(await weirHere(own, ['rollback', 'waiting'])).toMatchObject({ code: 0 })
    expect(await weirHere(own, ['abort', 'waiting', '--confirm', 'waiting'])).toMatchObject({ code: 0 })
  })
})
