/** Plans and manifests made to keep the server busy: they take linear time, have bounds, and run in separate threads. */
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { createHeavyWork } from '../../src/api/heavy/heavy-work.ts'
import { inTurns } from '../../src/api/stream.ts'
import { NOBODY } from '../../src/control-plane/audit/record.ts'
import { lintText } from '../../traffic/lint/text.ts'
import { simulate } from '../../traffic/render/simulate.ts'
import { SHOP_YAML, shopPlan } from '../traffic/support/shop.ts'

const heavy = createHeavyWork()
afterAll(() => heavy.close())

const isFull = process.env.FULL_SIZE === 'true'
const SIZE = isFull ? 200_000 : 40_000
const filled = (piece: (index: number) => string, start = '', end = '') => {
  const pieces = [start]
  for (let length = start.length, index = 0; length < SIZE; index++)
    length += pieces[pieces.push(piece(index)) - 1]!.length
  return pieces.join('') + end
}
const INGRESS = 'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: a\n'
const prefix = 'alb.ingress.kubernetes.io/'
const path = (name: string) =>
  `      - { path: /, pathType: Prefix, backend: { service: { name: ${name}, port: { name: use-annotation } } } }\n`
const RULES = 'spec:\n  rules:\n  - http:\n      paths:\n'

const TEXTS: Readonly<Record<string, string>> = {
  'short lines': filled(() => 'a\n'),
  keys: filled((index) => `k${index}: 1\n`),
  'unknown fields of a plan': filled((index) => `weigth${index}: 1\n`, SHOP_YAML),
  'one long field': filled(() => 'a', SHOP_YAML, ': 1\n'),
  documents: filled(() => '---\na: 1\n'),
  'objects without a kind': filled(() => '- a: 1\n', 'items:\n'),
  'anchors and aliases': filled((index) => `- &a${index} x\n- *a${index}\n`),
  'open brackets': filled(() => '['),
  'closed brackets': filled(() => ']'),
  nesting: '['.repeat(SIZE / 2) + ']'.repeat(SIZE / 2),
  'unknown annotations': filled((index) => `    ${prefix}acton${index}: x\n`, `${INGRESS}  annotations:\n`, RULES),
  'actions that nobody uses': filled(
    (index) => `    ${prefix}actions.a${index}: '{}'\n`,
    `${INGRESS}  annotations:\n`,
    `spec:\n  rules: []\n`,
  ),
  'backends without an action': filled((index) => path(`name${index}`), INGRESS + RULES),
  'target groups': filled(
    () => '{"weight":1},',
    `${INGRESS}  annotations:\n    ${prefix}actions.a: '{"type":"forward","forwardConfig":{"targetGroups":[`,
    `{}]}}'\nspec: {}\n`,
  ),
  'JSON in an annotation': `${INGRESS}  annotations:\n    ${prefix}actions.a: '${'['.repeat(SIZE / 2)}${']'.repeat(SIZE / 2)}'\nspec: {}\n`,
  services: filled((index) => `---\napiVersion: v1\nkind: Service\nmetadata: { name: a${index} }\nspec: {}\n`),
}

/** Returns seconds of this process's work, whatever else the machine does. */
function secondsOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

it.each(Object.entries(TEXTS))('%s are linted in time, with findings that can be read', (_name, text) => {
  let findings: ReturnType<typeof lintText> = []
  const seconds = secondsOf(() => {
    findings = lintText(text, text)
  })
  expect(seconds).toBeLessThan(isFull ? 6 : 2)
  expect(findings.length).toBeLessThanOrEqual(200)
  expect(JSON.stringify(findings).length).toBeLessThan(300_000)
})

it('a key that stands twice is told with its line, in long texts too', () => {
  expect(lintText(filled((index) => `k${index}: 1\n`, '', 'k7: 2\n'))).toMatchObject([
    { code: 'TS-Y01', message: 'Map keys must be unique', line: expect.any(Number) },
  ])
  expect(lintText('a: 1\nb: { c: 1, c: 2 }\n')).toMatchObject([{ message: 'Map keys must be unique', line: 2 }])
})

it('a simulation is bounded: steps of a day, and all that its limits allow', () => {
  const days = shopPlan((plan) => {
    for (const step of plan.steps) step.dwellSeconds = 86_400
  })
  const options = { clients: 20_000, thinkSeconds: 1, minutes: 5000, sessionSeconds: 1 }
  const outages = Array.from({ length: 1000 }, (_, index) => ({
    group: 'current' as const,
    fromSeconds: index * 10,
    toSeconds: index * 10 + 5,
  }))
  const seconds = secondsOf(() => {
    const { requests, timeTo99Seconds, minutes } = simulate(days)
    // The result is scaled to 2,000 clients with a request every 5 s, although fewer were simulated.
    expect(Math.abs(requests / (minutes.length * 60 * 400) - 1)).toBeLessThan(0.05)
    expect(timeTo99Seconds).toBeLessThan(60)
    expect(simulate(days, { ...options, outages }).errors).toBeGreaterThan(0)
  })
  expect(seconds).toBeLessThan(10)
  expect(() => simulate(days, { ...options, minutes: 40_000 })).toThrow(/too much to simulate: choose fewer minutes/)
  const years = shopPlan((plan) => {
    for (const step of plan.steps) step.dwellSeconds = 604_800
    plan.steps.splice(1, 0, ...Array.from({ length: 90 }, () => plan.steps[1]!))
  })
  expect(() => simulate(years)).toThrow(/at most 40320/)
})

it('heavy work leaves this thread free, keeps its errors, and ends', async () => {
  await expect(heavy.run('planFromText', 'name: x')).rejects.toMatchObject({
    name: 'UserError',
    status: 422,
    data: { trouble: 'invalid', findings: expect.arrayContaining([expect.objectContaining({ code: 'TS-Y02' })]) },
  })
  const plan = await heavy.run('planFromText', SHOP_YAML)
  expect(plan).toEqual(shopPlan())
  await expect(heavy.run('simulate', plan, { minutes: 1e9 })).rejects.toMatchObject({ name: 'UserError', status: 400 })

  const impatient = createHeavyWork({ limitMs: 1, patienceMs: 60_000, mostWaiting: 1 })
  const all = Array.from({ length: 4 }, () => impatient.run('simulate', plan, { minutes: 5000 }))
  const ends = await Promise.allSettled(all)
  expect(ends.map((end) => end.status === 'rejected' && end.reason.status).sort()).toEqual([413, 413, 413, 503])
  expect(ends.at(-1)).toMatchObject({ reason: { name: 'UnavailableError', retryAfterSeconds: 5 } })
  await impatient.close()
})

it('what had no time to compute is not too large: the server is busy', async () => {
  // Accepts a connection, and never sends anything.
  const silent = createServer()
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
  const { port } = silent.address() as AddressInfo
  const patient = createHeavyWork({ limitMs: 60_000, patienceMs: 100 })
  const url = `postgres://nobody:none@127.0.0.1:${port}/none`
  const asked = { plugin: 'org', method: 'GET', path: '/plugins/org/teams.csv', actor: NOBODY }
  const work = patient.run('runRoute', url, { ...asked, request: { params: {}, query: {}, body: undefined } })
  await expect(work).rejects.toMatchObject({
    name: 'UnavailableError',
    status: 503,
    message: expect.stringMatching(/too much to do at once: try again/),
  })
  await patient.close()
  silent.close()
})

it('a long answer leaves others their turn, however fast its pieces come', async () => {
  async function* pieces() {
    for (let count = 0; count < 60; count++) {
      for (const end = performance.now() + 5; performance.now() < end; );
      yield 'x'
    }
  }
  let turns = 0
  const others = setInterval(() => turns++, 1)
  let text = ''
  for await (const piece of inTurns(pieces())) text += piece
  clearInterval(others)
  expect(text).toBe('x'.repeat(60))
  expect(turns).toBeGreaterThan(5)
})
