import type { z } from 'zod'
import { byName } from '../../basics/by-name.ts'
import { closest, didYouMean } from '../../basics/nearest.ts'
import { ANNOTATION_PREFIX, actionKey, lintAction } from '../model/action.ts'
import { type Finding, finding, MOST_FINDINGS } from '../model/finding.ts'
import { GROUP_NAME, MULTI_CLUSTER } from '../model/ingress.ts'
import {
  backendsOf,
  bindingSchema,
  findPort,
  hasTargetStickiness,
  type Ingress,
  ingressSchema,
  objectName,
  placeOf,
  type Service,
  type Services,
  serviceBeside,
  serviceSchema,
} from '../model/manifests.ts'
import * as names from '../model/names.ts'
import { pathText, withLine } from '../model/plan.ts'
import { type ReadDocument, readYaml } from '../model/yaml.ts'
import { lintBinding } from './binding.ts'
import { isKnownAnnotation, KNOWN_ANNOTATIONS } from './known-annotations.ts'
import { lintOrphans } from './orphans.ts'

const SCHEMAS: Record<string, z.ZodType> = byName({
  Ingress: ingressSchema,
  TargetGroupBinding: bindingSchema,
  Service: serviceSchema,
})
const GO_BOOLEANS = ['1', 't', 'T', 'TRUE', 'true', 'True', '0', 'f', 'F', 'FALSE', 'false', 'False']

interface Bundle {
  readonly ingresses: readonly Ingress[]
  readonly services: Services
  /** Objects as the cluster has them, by name, to notice changes that must not happen. */
  readonly live: ReadonlyMap<string, Ingress>
}

// biome-ignore lint/suspicious/noExplicitAny: whatever stands in a file; each rule looks before it reads
type Manifest = any

/**
 * Lints Ingresses and bindings, hand-written or rendered. Services in the same files are used to check ports;
 * `live` manifests to notice a change of the group name.
 */
export function lintManifests(text: string, live = ''): readonly Finding[] {
  const objectsIn = (documents: readonly ReadDocument[]) =>
    documents.flatMap((document) =>
      'problem' in document ? [] : objectsOf(document.value).map((object) => ({ object, document })),
    )
  const documents = readYaml(text)
  const objects = objectsIn(documents)
  const ofKind = <T>(list: readonly { object: Manifest }[], kind: string) =>
    list
      .filter(({ object }) => object?.kind === kind && typeof object.metadata?.name === 'string')
      .map(({ object }) => object as T)
  const bundle: Bundle = {
    ingresses: ofKind<Ingress>(objects, 'Ingress'),
    services: new Map(ofKind<Service>(objects, 'Service').map((service) => [placeOf(service), service])),
    live: new Map(ofKind<Ingress>(objectsIn(readYaml(live)), 'Ingress').map((each) => [objectName(each), each])),
  }
  const broken = documents.flatMap((document) => ('problem' in document ? [document.problem] : []))
  if (objects.length === 0 && broken.length === 0) return [finding('TS-Y01', '(file)', 'no Kubernetes object found')]
  const findings = broken.slice(0, MOST_FINDINGS)
  for (const { object, document } of objects) {
    if (findings.length >= MOST_FINDINGS) break
    const found = lintObject(object, bundle).slice(0, MOST_FINDINGS - findings.length)
    for (const item of found) {
      const path = `${names.brief(objectName(object))} ${item.path}`.trim()
      findings.push({ ...withLine(item, document.lineOf(item.path)), path })
    }
  }
  return findings
}

const objectsOf = (value: Manifest): readonly Manifest[] => (Array.isArray(value?.items) ? value.items : [value])

function lintObject(object: Manifest, bundle: Bundle): readonly Finding[] {
  if (typeof object?.kind !== 'string' || typeof object.metadata?.name !== 'string') {
    return [finding('TS-Y02', '', 'not a Kubernetes object: kind or metadata.name is missing')]
  }
  const schema = SCHEMAS[object.kind]
  if (schema === undefined) return []
  const result = schema.safeParse(object)
  const shape = result.success
    ? []
    : result.error.issues.slice(0, MOST_FINDINGS).flatMap((issue) => shapeFindings(issue, object.kind))
  // A spec of the wrong shape cannot be walked; annotations can always be read.
  const walkable = result.success ? object : { ...object, spec: undefined }
  if (object.kind === 'Ingress') return [...shape, ...lintIngress(walkable, bundle)]
  if (object.kind === 'TargetGroupBinding' && result.success) return [...shape, ...lintBinding(object, bundle.services)]
  return shape
}

function shapeFindings(issue: z.core.$ZodIssue, kind: string): readonly Finding[] {
  const code = kind === 'TargetGroupBinding' && issue.path.includes('networking') ? 'TS-B02' : 'TS-Y02'
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, MOST_FINDINGS)
      .map((key) =>
        finding(code, pathText([...issue.path, key]), `unknown field ${key}${didYouMean(key, KNOWN_FIELDS)}`),
      )
  }
  return [finding(code, pathText(issue.path), issue.message)]
}

const KNOWN_FIELDS = [
  ...Object.keys(bindingSchema.shape.spec.shape),
  ...Object.keys(ingressSchema.shape.spec.shape),
  'securityGroup',
  'ipBlock',
  'groupID',
  'cidr',
  'protocol',
  'port',
  'ports',
  'from',
  'ingress',
  'http',
  'paths',
  'path',
  'pathType',
  'backend',
  'service',
  'name',
  'number',
  'host',
]

const annotationPath = (key: string): string => `metadata.annotations["${key}"]`

function lintIngress(ingress: Ingress, bundle: Bundle): readonly Finding[] {
  const annotations = ingress.metadata.annotations ?? {}
  return [
    ...Object.entries(annotations).flatMap(([key, value]) => lintAnnotation(key, value)),
    ...lintGroup(ingress, bundle.live),
    ...(ingress.spec === undefined ? [] : lintBackends(ingress)),
    ...lintActions(ingress, bundle),
  ]
}

function lintAnnotation(key: string, value: unknown): readonly Finding[] {
  const path = annotationPath(key)
  if (typeof value !== 'string')
    return [finding('TS-M01', path, `got ${names.describeValue(value)}, which is not text`)]
  if (!key.startsWith(ANNOTATION_PREFIX)) return []
  const name = key.slice(ANNOTATION_PREFIX.length)
  if (!isKnownAnnotation(name)) {
    const guess = closest(name, KNOWN_ANNOTATIONS) ?? closest(`${name.split('.')[0]}.`, KNOWN_ANNOTATIONS)
    return [finding('TS-M02', path, `unknown annotation${guess === undefined ? '' : `; did you mean ${guess}?`}`)]
  }
  if (key === MULTI_CLUSTER && !GO_BOOLEANS.includes(value))
    return [finding('TS-M03', path, `got ${names.describeValue(value)}`)]
  if (key === GROUP_NAME && !names.GROUP_NAME.test(value))
    return [finding('TS-G01', path, `got ${names.describeValue(value)}`)]
  if (name === 'group.order' && !(/^-?\d+$/.test(value) && Math.abs(Number(value)) <= 1000))
    return [finding('TS-G02', path, `got ${names.describeValue(value)}`)]
  if (name === 'target-type' && value !== 'ip' && value !== 'instance')
    return [finding('TS-T02', path, `got ${names.describeValue(value)}; expected ip or instance`)]
  return []
}

function lintGroup(ingress: Ingress, live: Bundle['live']): readonly Finding[] {
  const same = live.get(objectName(ingress))
  return same === undefined ? [] : lintGroupChange(same, ingress.metadata.annotations?.[GROUP_NAME])
}

/** The group that the controller put the live Ingress in: its finalizer is the surest evidence. */
function liveGroupName(live: Ingress): string | undefined {
  const finalizers = (live.metadata.finalizers as readonly string[] | undefined) ?? []
  const explicit = finalizers.find((name) => name.startsWith('group.ingress.k8s.aws/'))
  return (
    explicit?.slice('group.ingress.k8s.aws/'.length) ?? (live.metadata.annotations?.[GROUP_NAME] as string | undefined)
  )
}

export function lintGroupChange(live: Ingress, wanted: unknown): readonly Finding[] {
  const before = liveGroupName(live)
  if (before === wanted) return []
  return [
    finding(
      'TS-G03',
      annotationPath(GROUP_NAME),
      `the live Ingress is in group ${names.describeValue(before)}, the new one in ${names.describeValue(wanted)}`,
    ),
  ]
}

function lintBackends(ingress: Ingress): readonly Finding[] {
  const findings: Finding[] = []
  for (const { path, backend } of backendsOf(ingress)) {
    const port = backend.service?.port
    if (port === undefined) continue
    const where = pathText([...path, 'service', 'port'])
    const looksMeant =
      port.name !== undefined && port.name !== 'use-annotation' && closest(port.name, ['use-annotation']) !== undefined
    const hasAction = actionKey(backend.service!.name) in (ingress.metadata.annotations ?? {})
    if (port.name !== undefined && port.number !== undefined)
      findings.push(finding('TS-A02', where, 'name and number exclude each other'))
    else if (looksMeant)
      findings.push(finding('TS-A02', where, `${names.describeValue(port.name)} is not use-annotation`))
    else if (hasAction && port.name !== 'use-annotation') {
      findings.push(
        finding(
          'TS-A02',
          where,
          `the action ${backend.service!.name} is ignored: the port is ${names.describeValue(port.name ?? port.number)}`,
        ),
      )
    }
  }
  return findings
}

function lintActions(ingress: Ingress, bundle: Bundle): readonly Finding[] {
  const annotations = ingress.metadata.annotations ?? {}
  const findings: Finding[] = []
  const used = new Set<string>()
  const defined = Object.keys(annotations).flatMap((key) => actionNameOf(key) ?? [])
  for (const { path, backend } of ingress.spec === undefined ? [] : backendsOf(ingress)) {
    if (backend.service?.port?.name !== 'use-annotation') continue
    used.add(backend.service.name)
    if (!(actionKey(backend.service.name) in annotations)) {
      const hint = didYouMean(backend.service.name, defined.slice(0, MOST_FINDINGS))
      findings.push(
        finding(
          'TS-A05',
          pathText([...path, 'service', 'name']),
          `no annotation actions.${backend.service.name}${hint}; the path would answer 503`,
        ),
      )
    }
  }
  if (ingress.spec !== undefined) findings.push(...lintOrphans(ingress))
  for (const [key, value] of Object.entries(annotations)) {
    const name = actionNameOf(key)
    if (name === undefined || typeof value !== 'string') continue
    const path = annotationPath(key)
    if (!names.ACTION_NAME.test(name)) findings.push(finding('TS-A01', path, `got ${names.describeValue(name)}`))
    if (ingress.spec !== undefined && !used.has(name))
      findings.push(finding('TS-A06', path, `no backend uses the action ${name}`, 'warning'))
    if (serviceBeside(bundle.services, ingress, name) !== undefined) {
      findings.push(finding('TS-A03', path, `${name} is also the name of a Service`, 'warning'))
    }
    const own = lintAction(value, path)
    findings.push(...own)
    if (!own.some(({ code }) => code === 'TS-A07')) findings.push(...lintActionInContext(value, path, ingress, bundle))
  }
  return findings
}

const actionNameOf = (key: string): string | undefined =>
  key.startsWith(actionKey('')) ? key.slice(actionKey('').length) : undefined

function lintActionInContext(text: string, path: string, ingress: Ingress, bundle: Bundle): readonly Finding[] {
  const config = JSON.parse(text).forwardConfig
  if (!Array.isArray(config?.targetGroups)) return []
  const findings: Finding[] = []
  const isOff = config.targetGroupStickinessConfig?.enabled !== true
  if (isOff && config.targetGroups.length > 1 && hasTargetStickiness(ingress.metadata.annotations ?? {})) {
    findings.push(
      finding(
        'TS-S04',
        `${path}.forwardConfig.targetGroupStickinessConfig`,
        'target-group-attributes enables stickiness, the rule does not',
      ),
    )
  }
  for (const [index, entry] of config.targetGroups.entries()) {
    const service = serviceBeside(bundle.services, ingress, entry?.serviceName)
    if (service !== undefined && findPort(service, entry.servicePort) === undefined) {
      findings.push(
        finding(
          'TS-P02',
          `${path}.forwardConfig.targetGroups[${index}].servicePort`,
          `Service ${entry.serviceName} has no port ${names.describeValue(entry.servicePort)}`,
        ),
      )
    }
  }
  return findings
}
