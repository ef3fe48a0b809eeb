import { describe, expect, test } from 'vitest'
import { type Code, RULES } from '../../traffic/model/finding.ts'
import { parsePlan } from '../../traffic/model/plan.ts'
import { actionsCases } from './lint-cases/actions.ts'
import { liveCases } from './lint-cases/live.ts'
import { namesCases } from './lint-cases/names.ts'
import { objectsCases } from './lint-cases/objects.ts'
import { plansCases } from './lint-cases/plans.ts'
import {
  ACTION,
  annotate,
  binding,
  type Case,
  CURRENT,
  ingress,
  live,
  ok,
  plan,
  routes,
  throughGit,
} from './lint-cases/support.ts'
import { weightsCases } from './lint-cases/weights.ts'
import { SHOP_YAML } from './support/shop.ts'

const CASES: Record<Code, readonly Case[]> = {
  ...weightsCases,
  ...actionsCases,
  ...objectsCases,
  ...plansCases,
  ...namesCases,
  ...liveCases,
}

test.each([
  ['{"type":"redirect","redirectConfig":{"statusCode":301}}', /got 301; expected "HTTP_301"/],
  ['{"type":"redirect","redirectConfig":{"host":"a.example.com"}}', /got nothing/],
  ['{"type":"fixed-response","fixedResponseConfig":{"statusCode":503}}', /got 503; expected text/],
])('a status code that the controller cannot read: %s', (text, says) => {
  const found = ingress(annotate('actions.web-switch', text)).find(({ code }) => code === 'TS-A08')
  expect(found?.message).toMatch(says)
})

test.each(['90.0', '9e1'])('the weight %s in an action is refused, as the controller refuses it', (weight) => {
  const found = ingress((object) => {
    object.metadata.annotations[ACTION] = object.metadata.annotations[ACTION].replace(
      '"weight":90',
      `"weight":${weight}`,
    )
  })
  expect(found).toMatchObject([{ code: 'TS-W01', message: expect.stringContaining(weight) }])
})

test('conditions of nobody are told, target-control-port with its service is known', () => {
  expect(ingress(annotate('conditions.gone', '[]'))).toMatchObject([{ code: 'TS-A06', severity: 'warning' }])
  expect(ingress(annotate('conditions.web-switch', '[]'))).toEqual([])
  expect(ingress(annotate('target-control-port.web.80', '3000'))).toEqual([])
})

describe.each(Object.keys(RULES) as Code[])('%s', (code) => {
  test.each(CASES[code].map((item, index) => ({ ...item, index })))(
    'case $index: refused at $path, and not where all is well',
    ({ path, says, bad, good }) => {
      const found = bad().find((item) => item.code === code && item.path.includes(path))
      expect(found, JSON.stringify(bad(), null, 1)).toBeDefined()
      expect(found!.message).toMatch(says)
      expect(found!.remedy).toBe(RULES[code].remedy)
      expect(good().filter((item) => item.code === code)).toEqual([])
    },
  )
})

test.each([
  'https://ada:s3cret@git.example.com/x.git',
  'https://s3cret@git.example.com/x.git',
  'https://ada:a/b@s3cret@git.example.com/x.git',
  'ada:s3cret@git.example.com:x.git',
])('a repository with a login is refused, and the login is not repeated: %s', (repository) => {
  const found = plan(throughGit((raw) => (raw.gitops.repository = repository)))
  expect(found).toMatchObject([{ code: 'TS-O02', message: expect.stringContaining('@git.example.com') }])
  expect(JSON.stringify(found)).not.toContain('s3cret')
})

test('what is right has no findings at all', () => {
  expect(plan(ok)).toEqual([])
  expect(routes(ok)).toEqual([])
  expect(ingress(ok, CURRENT)).toEqual([])
  expect(binding(ok)).toEqual([])
  expect(live(ok)).toEqual([])
})

test('a finding names the line', () => {
  const text = SHOP_YAML.replace('target: 10 }', 'target: "10" }')
  const line = text.split('\n').findIndex((item) => item.includes('"10"')) + 1
  expect(parsePlan(text).findings).toMatchObject([{ code: 'TS-W01', path: 'steps[1].weights.target', line }])
})

test('everything wrong is said at once', () => {
  const codes = plan((raw) => {
    raw.steps[1].weights = { current: -1, target: '10' }
    raw.targetGroup.name = 'x-'
    raw.actionName = 'Web'
  }).map((item) => item.code)
  expect(codes).toEqual(expect.arrayContaining(['TS-W01', 'TS-W02', 'TS-T01', 'TS-A01']))
})
