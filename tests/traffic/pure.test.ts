import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { reversePlan } from '../../src/traffic/engine/reverse.ts'
import { lintPlan } from '../../src/traffic/lint/plan.ts'
import { lintAction, rollbackAction } from '../../src/traffic/model/action.ts'
import { RULES } from '../../src/traffic/model/finding.ts'
import { initialPlan, PLACEHOLDERS, PRESETS } from '../../src/traffic/model/init.ts'
import { parsePlan } from '../../src/traffic/model/plan.ts'
import { routesOf } from '../../src/traffic/model/routes.ts'
import { ACTIONS, actionsFrom, STATES, transitionOf } from '../../src/traffic/model/state.ts'
import { chart } from '../../src/traffic/render/chart.ts'
import { describeDifference, diffManifests, diffSides } from '../../src/traffic/render/diff.ts'
import { manifestsOf, renderPhase } from '../../src/traffic/render/render.ts'
import { simulate } from '../../src/traffic/render/simulate.ts'
import { SHOP_YAML, shopPlan } from './support/shop.ts'

test.each(Object.keys(PRESETS))('the plan of init --preset %s has no findings', (preset) => {
  const { plan, findings } = parsePlan(initialPlan('shop', preset))
  expect(findings).toEqual([])
  expect(lintPlan(plan!)).toEqual([])
  expect(plan!.steps).toHaveLength(PRESETS[preset]!.length + 1)
})

test('a rollback sends everything to the current cluster, and forgets the cookies of clients', () => {
  const [route] = routesOf(shopPlan())
  const { forwardConfig } = rollbackAction(route!, 'arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/shop/1')
  expect(forwardConfig.targetGroups.map(({ weight }) => weight)).toEqual([100, 0])
  expect(forwardConfig.targetGroups[0]).toMatchObject({ serviceName: route!.current.service.name })
  expect(forwardConfig.targetGroupStickinessConfig).toEqual({ enabled: false })
})

test('an action is read as strictly as the load balancer reads it', () => {
  const codesOf = (action: object) => lintAction(JSON.stringify(action), 'x').map(({ code }) => code)
  const redirect = (statusCode: string) => codesOf({ type: 'redirect', redirectConfig: { statusCode } })
  expect(['HTTP_301', 'HTTP_302', 'HTTP_303'].map(redirect)).toEqual([[], [], ['TS-A08']])
  const targetGroups = [100, 0].map((weight, index) => ({ targetGroupName: `shop-${index}`, weight }))
  const sticky = { enabled: true, durationSeconds: 600 }
  const forward = (targetGroupStickinessConfig: object) => ({
    type: 'forward',
    forwardConfig: { targetGroups, targetGroupStickinessConfig },
  })
  const atEnd = (stickiness: object) =>
    lintAction(JSON.stringify(forward(stickiness)), 'x', true).map(({ code }) => code)
  expect([atEnd(sticky), atEnd({ enabled: false })]).toEqual([['TS-S02'], []])
})

test('placeholders of the template are refused', () => {
  const { findings } = parsePlan(initialPlan('shop', 'standard', PLACEHOLDERS))
  expect(findings.map(({ code, path }) => [code, path])).toEqual([
    ['TS-V01', 'targetGroup.vpcId'],
    ['TS-V01', 'binding.sourceSecurityGroup'],
  ])
})

const LONG = 'a-very-long-name-of-a-shop-with-everything'
test.each([
  ['shop', ['web']],
  ['shop', ['web', 'cart', 'admin']],
  [LONG, [`${LONG.slice(0, 31)}1`, `${LONG.slice(0, 31)}2`]],
])('the plan of init %s --routes %s has no findings once the ids are filled in', (name, routes) => {
  const text = initialPlan(name, 'standard', PLACEHOLDERS, routes)
  expect(parsePlan(text).findings.map(({ path }) => path)).toEqual(
    routes.flatMap((_, index) => [
      `routes[${index}].targetGroup.vpcId`,
      `routes[${index}].binding.sourceSecurityGroup`,
    ]),
  )
  const filled = text
    .replaceAll(PLACEHOLDERS.vpcId, 'vpc-0a1b2c3d4e5f60718')
    .replaceAll(PLACEHOLDERS.sourceSecurityGroup, 'sg-0a1b2c3d4e5f60718')
  const { plan, findings } = parsePlan(filled)
  expect(findings).toEqual([])
  expect(lintPlan(plan!)).toEqual([])
  expect(routesOf(plan!).map(({ route, current }) => [route?.name, current.service.name])).toEqual(
    routes.map((route) => [route, route]),
  )
})

test.each([
  ['', /"" is no name of a route/],
  ['Web', /"Web" is no name of a route/],
  ['web,web', /Route web stands twice/],
])('init --routes %j is refused', (routes, says) => {
  expect(() => initialPlan('shop', 'standard', PLACEHOLDERS, routes.split(','))).toThrow(says)
})

test.each(['90.0', '9e1', '0x5a'])('the weight %s is refused in a plan', (weight) => {
  const { findings } = parsePlan(SHOP_YAML.replace('current: 90', `current: ${weight}`))
  expect(findings).toMatchObject([{ code: 'TS-W01', path: 'steps[1].weights.current', line: 50 }])
})

test.each(['eusc-de-east-1', 'mx-central-1', 'us-gov-west-1', 'ap-southeast-7'])('%s is a region', (region) => {
  const { findings } = parsePlan(SHOP_YAML.replaceAll('eu-central-1', region))
  expect(findings).toEqual([])
})

test('a simulation without pauses between requests ends with a sentence', () => {
  expect(() => simulate(shopPlan(), { thinkSeconds: 0 })).toThrow('too much to simulate')
})

test('between two steps only weights and stickiness differ', () => {
  const plan = shopPlan()
  const differences = diffSides(manifestsOf(renderPhase(plan, 'step-2')), manifestsOf(renderPhase(plan, 'step-3')))
  const action =
    'current Ingress shop/web metadata.annotations["alb.ingress.kubernetes.io/actions.web-switch"].forwardConfig'
  expect(differences.map(describeDifference)).toEqual([
    `${action}.targetGroups["web:80"].weight: 50 → 0`,
    `${action}.targetGroups["${plan.targetGroup.arn}"].weight: 50 → 100`,
    `${action}.targetGroupStickinessConfig.enabled: true → false`,
    `${action}.targetGroupStickinessConfig.durationSeconds: 600 → (none)`,
  ])
})

test('what server, controller and kubectl add is no difference; what people change is', () => {
  const wanted = renderPhase(shopPlan(), 'step-1')[3]!.content
  const live = parse(wanted)
  Object.assign(live.metadata, {
    uid: 'u',
    resourceVersion: '7',
    generation: 2,
    creationTimestamp: 'now',
    finalizers: ['elbv2.k8s.aws/resources'],
  })
  live.metadata.annotations = {
    'elbv2.k8s.aws/checkpoint': 'x',
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
  }
  Object.assign(live.spec, { vpcID: 'vpc-0123456789abcdef0', targetGroupProtocol: 'HTTP' })
  live.status = { observedGeneration: 2 }
  expect(diffManifests(stringify(live), wanted)).toEqual([])
  live.spec.serviceRef.port = 81
  expect(diffManifests(stringify(live), wanted)).toEqual([
    { object: 'TargetGroupBinding shop/web-switch', path: 'spec.serviceRef.port', before: 81, after: 80 },
  ])
  expect(diffManifests('', wanted)).toEqual([
    { object: 'TargetGroupBinding shop/web-switch', path: '', before: undefined, after: 'present' },
  ])
})

test('the order of target groups means nothing', () => {
  const before = renderPhase(shopPlan(), 'step-1')[4]!.content
  const swapped = parse(before)
  const key = 'alb.ingress.kubernetes.io/actions.web-switch'
  const action = JSON.parse(swapped.metadata.annotations[key])
  action.forwardConfig.targetGroups.reverse()
  swapped.metadata.annotations[key] = JSON.stringify(action)
  expect(diffManifests(before, stringify(swapped))).toEqual([])
})

test('the simulator is repeatable, adds up, and follows the weights without stickiness', () => {
  const plan = shopPlan((copy) => {
    copy.stickiness = { enabled: false, atFinalStep: 'disable' }
  })
  const options = { clients: 400, stepStartsSeconds: [0, 600, 1200, 1800] }
  const result = simulate(plan, options)
  expect(simulate(plan, options)).toEqual(result)
  expect(simulate(plan, { ...options, seed: 2 }).minutes).not.toEqual(result.minutes)
  expect(result.timeTo99Seconds).toBe(0)
  for (const [minute, share] of [
    [5, 0],
    [15, 0.1],
    [25, 0.5],
    [35, 1],
  ] as const) {
    const { requests, targetShare, pinnedShare } = result.minutes[minute]!
    expect(Math.abs(targetShare - share)).toBeLessThanOrEqual(4 * Math.sqrt((share * (1 - share)) / requests))
    expect(pinnedShare).toBe(0)
  }
  expect(result.errors).toBe(0)
})

// Long-lived cookies defeat the shift, and switching them off completes it at once.
test('stickiness holds clients back, and switching it off at the end lets them go', () => {
  const sticky = (
    atFinalStep: 'keep' | 'disable',
    durationSeconds: number,
    sessionSeconds: number,
    renewCookie = true,
  ) =>
    simulate(
      shopPlan((copy) => {
        copy.stickiness = { enabled: true, durationSeconds, atFinalStep }
      }),
      { clients: 500, sessionSeconds, renewCookie, stepStartsSeconds: [0, 600, 1800, 3000], minutes: 290 },
    )
  const long = sticky('keep', 3600, 7200)
  expect(long.timeTo99Seconds).toBeNull()
  expect(long.minutes[29]!.targetShare).toBeLessThan(0.06)
  expect(long.minutes[51]!.pinnedShare).toBeGreaterThan(0.9)
  expect(sticky('disable', 3600, 7200).timeTo99Seconds).toBe(0)
  expect(sticky('keep', 60, 600, false).timeTo99Seconds).toBeLessThanOrEqual(70)
  const renewed = sticky('keep', 60, 600).timeTo99Seconds!
  expect(renewed).toBeGreaterThan(20 * 60)
})

test('the chart shows a column a minute and names the end', () => {
  const text = chart(simulate(shopPlan(), { clients: 50, minutes: 40 }))
  expect(text.split('\n')).toHaveLength(14)
  expect(text).toContain('40 min')
})

test('every state can be rolled back or reversed, and clean-up needs the DNS switch', () => {
  for (const state of STATES) {
    if (state === 'cleaned-up')
      expect(() => transitionOf(state, 'rollback')).toThrow('make a plan in the other direction')
    else if (state === 'aborted')
      expect(() => transitionOf(state, 'rollback')).toThrow('all traffic is on the current cluster')
    else expect(transitionOf(state, 'rollback').to).toBe('rolled-back')
    expect(actionsFrom(state).includes('cleanup')).toBe(state === 'dns-switched' || state === 'cleaning')
    for (const action of ACTIONS)
      if (!actionsFrom(state).includes(action))
        expect(() => transitionOf(state, action)).toThrow(`Cannot ${action} while the switch is ${state}`)
  }
})

test('the reverse of a plan is a plan without findings', () => {
  expect(() => reversePlan(shopPlan(), () => undefined)).toThrow('--source-security-group')
  const back = reversePlan(shopPlan(), () => 'sg-0fedcba9876543210')
  expect(lintPlan(back)).toEqual([])
  expect(back).toMatchObject({ name: 'shop-web-back', current: { cluster: 'green' }, target: { cluster: 'blue' } })
  expect(back).not.toHaveProperty('targetGroup.arn')
})

test('the guide lists every lint code with its remedy', () => {
  const guide = readFileSync(new URL('../../docs/traffic.md', import.meta.url), 'utf8')
  for (const [code, { remedy }] of Object.entries(RULES)) {
    const line = guide.split('\n').find((each) => each.startsWith(`| ${code} |`))
    expect(line, code).toContain(remedy)
  }
})
