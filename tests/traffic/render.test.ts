import { existsSync, readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { lintManifests } from '../../traffic/lint/manifests.ts'
import { lintPlan } from '../../traffic/lint/plan.ts'
import { errorsIn } from '../../traffic/model/finding.ts'
import { bindingSchema, ingressSchema } from '../../traffic/model/manifests.ts'
import { joinFiles, phasesOf, readmeOfPhases, renderPhase } from '../../traffic/render/render.ts'
import { shopPlan } from './support/shop.ts'

/** The controller's own schema, if it is checked out beside the repository for development. */
const CRD = new URL('../../../shared/reference/traffic/elbv2.k8s.aws_targetgroupbindings.yaml', import.meta.url)

/** Converts a CRD schema to how the API server reads it with `fieldValidation=Strict`. */
function strictSchema(node: any): any {
  if (Array.isArray(node)) return node.map(strictSchema)
  if (typeof node !== 'object' || node === null) return node
  if (node['x-kubernetes-int-or-string'] === true) return { anyOf: [{ type: 'integer' }, { type: 'string' }] }
  const entries = Object.entries(node)
    .filter(([key]) => !key.startsWith('x-kubernetes-') && key !== 'description' && key !== 'format')
    .map(([key, value]) => [
      key,
      key === 'properties'
        ? Object.fromEntries(Object.entries(value as object).map(([name, schema]) => [name, strictSchema(schema)]))
        : strictSchema(value),
    ])
  const schema = Object.fromEntries(entries)
  return schema.properties === undefined ? schema : { ...schema, additionalProperties: false }
}

function crdValidator() {
  const crd = parse(readFileSync(CRD, 'utf8'))
  const version = crd.spec.versions.find(({ name }: { name: string }) => name === 'v1beta1')
  const schema = strictSchema(version.schema.openAPIV3Schema)
  schema.properties.metadata = { type: 'object' }
  return new Ajv({ strict: false, allErrors: true }).compile(schema)
}

const documents = (content: string) => parseAllDocuments(content).map((document) => document.toJS())

describe('golden manifests', () => {
  const plan = shopPlan()
  test.each(phasesOf(plan))('%s', async (phase) => {
    const rendered = joinFiles(renderPhase(plan, phase))
    await expect(rendered).toMatchFileSnapshot(`golden/${phase}.txt`)
    expect(joinFiles(renderPhase(shopPlan(), phase))).toBe(rendered)
  })

  const manifests = phasesOf(plan).flatMap((phase) =>
    renderPhase(plan, phase)
      .filter(({ path }) => path.endsWith('.yaml'))
      .flatMap(({ path, content }) =>
        documents(content).map((object) => ({ name: `${phase}/${path}`, object, content })),
      ),
  )
  test('there are manifests in every phase that touches a cluster', () => {
    expect(manifests.map(({ name }) => name)).toHaveLength(4 * 3 + 1 + 1)
  })

  test.each(manifests)('$name keeps to our strict types and to our own lint', ({ object, content }) => {
    const schema = object.kind === 'Ingress' ? ingressSchema : bindingSchema
    expect(schema.safeParse(object).error).toBeUndefined()
    expect(lintManifests(content)).toEqual([])
  })

  test.runIf(existsSync(CRD))('every binding keeps to the CRD of the controller', () => {
    const validate = crdValidator()
    const bindings = manifests.filter(({ object }) => object.kind === 'TargetGroupBinding')
    expect(bindings).toHaveLength(4)
    for (const { object } of bindings) {
      expect(validate(object), JSON.stringify(validate.errors)).toBe(true)
    }
  })

  test.runIf(existsSync(CRD))('our strict types refuse what the CRD refuses', () => {
    const validate = crdValidator()
    const binding = manifests.find(({ object }) => object.kind === 'TargetGroupBinding')!.object
    const wrong: ((copy: any) => void)[] = [
      (copy) => (copy.spec.networking.ingress[0].ports[0].protocol = 'tcp'),
      (copy) => (copy.spec.networking.ingress[0].from[0].securityGroup = { groupId: 'sg-0123456789abcdef0' }),
      (copy) => (copy.spec.targetGroupArn = copy.spec.targetGroupARN),
      (copy) => delete copy.spec.networking.ingress[0].ports,
      (copy) => delete copy.spec.networking.ingress[0].from,
      (copy) => (copy.spec.targetType = 'pod'),
      (copy) => delete copy.spec.serviceRef,
      (copy) => (copy.spec.multiClusterTargetGroup = 'true'),
    ]
    for (const change of wrong) {
      const copy = structuredClone(binding)
      change(copy)
      expect(validate(copy), change.toString()).toBe(false)
      expect(bindingSchema.safeParse(copy).success, change.toString()).toBe(false)
    }
  })
})

test('the annotation of each step carries its weights; the last switches stickiness off', () => {
  const plan = shopPlan()
  const actions = plan.steps.map((_, step) => {
    const ingress = parse(
      renderPhase(plan, `step-${step}`).find(({ path }) => path.includes('current-ingress'))!.content,
    )
    expect(ingress.spec.rules[0].http.paths[0].backend).toEqual({
      service: { name: 'web-switch', port: { name: 'use-annotation' } },
    })
    return JSON.parse(ingress.metadata.annotations['alb.ingress.kubernetes.io/actions.web-switch']).forwardConfig
  })
  expect(actions.map(({ targetGroups }) => targetGroups.map(({ weight }: { weight: number }) => weight))).toEqual([
    [100, 0],
    [90, 10],
    [50, 50],
    [0, 100],
  ])
  expect(actions.map((config) => config.targetGroupStickinessConfig)).toEqual([
    { enabled: true, durationSeconds: 600 },
    { enabled: true, durationSeconds: 600 },
    { enabled: true, durationSeconds: 600 },
    { enabled: false },
  ])
})

test('a saved Ingress keeps its other rules', () => {
  const plan = shopPlan()
  const [, saved] = renderPhase(plan, 'cleanup')
  const ingress = parse(saved!.content)
  ingress.spec.rules.push({
    host: 'api.example.com',
    http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'api', port: { number: 80 } } } }] },
  })
  const rendered = parse(renderPhase(plan, 'step-1', { currentIngress: ingress })[4]!.content)
  expect(rendered.spec.rules[0].http.paths[0].backend.service.name).toBe('web-switch')
  expect(rendered.spec.rules[1]).toEqual(ingress.spec.rules[1])
})

test('a live Ingress is rendered without what the server added, any number of times', () => {
  const plan = shopPlan()
  const live = parse(renderPhase(plan, 'cleanup')[1]!.content)
  Object.assign(live.metadata, {
    uid: 'u',
    resourceVersion: '7',
    generation: 2,
    managedFields: [],
    labels: { app: 'web' },
  })
  live.metadata.annotations['kubectl.kubernetes.io/last-applied-configuration'] = '{}'
  live.status = { loadBalancer: {} }
  const once = parse(renderPhase(plan, 'step-1', { currentIngress: live })[4]!.content)
  expect(Object.keys(once)).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
  expect(Object.keys(once.metadata)).toEqual(['name', 'namespace', 'labels', 'annotations'])
  expect(JSON.stringify(once)).not.toContain('last-applied')
  expect(parse(renderPhase(plan, 'step-1', { currentIngress: once })[4]!.content)).toEqual(once)
  live.spec.rules[0].http.paths[0].backend.service.name = 'other'
  expect(() => renderPhase(plan, 'step-1', { currentIngress: live })).toThrow('no path of Ingress web uses Service web')
})

test('--target-group-arn must be the one of the plan', () => {
  const arn = shopPlan().targetGroup.arn!
  for (const wrong of [arn.replace('eu-central-1', 'us-east-1'), arn.replace('123456789012', '210987654321'), 'arn:x'])
    expect(() => renderPhase(shopPlan(), 'step-0', { targetGroupArn: wrong })).toThrow('TS-T03')
})

test('without an ARN the target group goes by its name', () => {
  const plan = shopPlan((copy) => delete copy.targetGroup.arn)
  const [, , , binding, ingress] = renderPhase(plan, 'step-1')
  expect(parse(binding!.content).spec).toMatchObject({ targetGroupName: 'shop-web-target' })
  expect(ingress!.content).toContain('{"targetGroupName":"shop-web-target","weight":10}')
  expect(lintManifests(ingress!.content)).toEqual([])
  expect(renderPhase(plan, 'cleanup').at(-1)!.content).toContain('--names shop-web-target')
  expect(renderPhase(plan, 'step-0', { targetGroupArn: shopPlan().targetGroup.arn })).toEqual(
    renderPhase(shopPlan(), 'step-0'),
  )
})

test('an unknown phase names the known ones', () => {
  expect(() => renderPhase(shopPlan(), 'step-9')).toThrow('step-0, step-1, step-2, step-3, rollback, cleanup')
})

test('the sample plan is free of errors', () => {
  expect(errorsIn(lintPlan(shopPlan()))).toEqual([])
})

test('the README of all phases tells shares, whatever the weights add up to', () => {
  const { content } = readmeOfPhases(shopPlan((plan) => (plan.steps[1]!.weights = { current: 8, target: 2 })))
  expect(content).toContain('2. [`step-0`](step-0/README.md): 100 % blue; attaches everything, no request moves')
  expect(content).toContain('3. [`step-1`](step-1/README.md): 80 % blue, 20 % green')
  expect(content).toContain('- [`rollback`](rollback/README.md): at any time: sends all traffic back to blue\n')
})
