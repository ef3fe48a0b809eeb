import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../src/config.ts'
import { BUILD_LIMIT_MS, ensureHelm, lint, type Manifest, missing, render } from './support/helm.ts'
import { breachesOf, containersOf, podOf, problemsOf } from './support/kubernetes.ts'
import {
  defaultPort,
  isCommand,
  isPinnedImage,
  isProbe,
  isSecretName,
  isSetting,
  read,
  root,
  version,
} from './support/weir.ts'

const CASES = ['external', 'everything', 'several-servers']
const fileOf = (name: string) => join(root, 'tests/deploy/values', `${name}.yaml`)
/** Every secret of the values files has it. */
const SECRET = 'for-tests'
const reason = missing ? ` (skipped: ${missing})` : ''

describe('the chart', () => {
  it('has the version of the package', () => {
    expect(parse(read('deploy/chart/Chart.yaml'))).toMatchObject({ version, appVersion: version })
  })

  it('has no secret among its values', () => {
    const found: string[] = []
    const walk = (value: unknown, path: string): void => {
      if (typeof value === 'object' && value !== null) {
        for (const [key, each] of Object.entries(value)) walk(each, `${path}.${key}`)
      } else if (/(password|secret|token|url)$/i.test(path) && typeof value === 'string' && value !== '')
        found.push(path)
    }
    walk(parse(read('deploy/chart/values.yaml')), 'values')
    expect(found).toEqual([])
  })

  it('describes every value in its schema', () => {
    const undescribed: string[] = []
    const walk = (value: unknown, schema: any, path: string): void => {
      if (!schema) undescribed.push(path)
      else if (typeof value === 'object' && value !== null && !Array.isArray(value) && schema.properties) {
        for (const [key, each] of Object.entries(value)) walk(each, schema.properties[key], `${path}.${key}`)
      }
    }
    walk(parse(read('deploy/chart/values.yaml')), JSON.parse(read('deploy/chart/values.schema.json')), 'values')
    expect(undescribed).toEqual([])
  })
})

describe.skipIf(missing)(`the chart, by Helm${reason}`, () => {
  let rendered: Readonly<Record<string, Manifest[]>>
  const of = (name: string) => rendered[name] as Manifest[]
  const find = (name: string, kind: string, own: string) =>
    of(name).find((each) => each.kind === kind && each.metadata.name === own)

  beforeAll(async () => {
    await ensureHelm()
    rendered = Object.fromEntries(CASES.map((name) => [name, render(['--values', fileOf(name)])]))
  }, BUILD_LIMIT_MS)

  describe.each(CASES)('%s', (name) => {
    it('is accepted by the linter', () => {
      expect(lint(['--values', fileOf(name)])).toContain('1 chart(s) linted, 0 chart(s) failed')
    })

    it('is what Kubernetes expects', async () => {
      for (const manifest of of(name)) {
        expect(await problemsOf(manifest), `${manifest.kind} ${manifest.metadata.name}`).toEqual([])
      }
      const names = of(name).map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      expect(new Set(names).size).toBe(names.length)
    })

    it('keeps to the pod security standard "restricted", with read-only files', () => {
      const pods = of(name).filter(podOf)
      expect(pods.length).toBeGreaterThan(0)
      for (const manifest of pods) expect(breachesOf(manifest), manifest.metadata.name).toEqual([])
    })

    it('has references that lead somewhere', () => {
      for (const manifest of of(name)) expect(danglingIn(manifest, of(name)), manifest.metadata.name).toEqual([])
    })

    it('runs commands of Weir with settings of Weir, and pinned images', () => {
      for (const manifest of of(name)) {
        for (const { image, args = [], env = [], name: own } of containersOf(manifest)) {
          expect(isPinnedImage(image), image).toBe(true)
          if (!['server', 'worker', 'reader'].includes(own)) continue
          expect(isCommand(args), args.join(' ')).toBe(true)
          for (const { name: variable } of env) expect(isSetting(variable), variable).toBe(true)
          const values = env.map(({ name: variable, value }: { name: string; value: string }) => [variable, value])
          expect(() => readConfig(Object.fromEntries(values))).not.toThrow()
        }
      }
    })

    it('probes routes that exist, on the port that the server listens on', () => {
      const [server] = containersOf(find(name, 'Deployment', 'weir') as Manifest)
      const { value: watched } = server.env.find((each: { name: string }) => each.name === 'METRICS_PORT')
      expect(server.ports).toEqual([
        { name: 'http', containerPort: defaultPort },
        { name: 'metrics', containerPort: Number(watched) },
      ])
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
        expect(server[probe].httpGet.port).toBe(probe === 'livenessProbe' ? 'metrics' : 'http')
        expect(isProbe(server[probe].httpGet.path), server[probe].httpGet.path).toBe(true)
      }
    })

    it('has secrets in secrets only', () => {
      for (const manifest of of(name).filter(({ kind }) => kind !== 'Secret')) {
        expect(JSON.stringify(manifest), manifest.metadata.name).not.toContain(SECRET)
        for (const { env = [] } of containersOf(manifest)) {
          for (const { name: variable, value } of env)
            if (isSecretName(variable)) expect(value, variable).toBeUndefined()
        }
      }
    })
  })

  it('notices what Kubernetes would refuse', async () => {
    const deployment = structuredClone(find('external', 'Deployment', 'weir') as Manifest)
    deployment.spec.replicas = 'two'
    const [server] = containersOf(deployment)
    server.readinesProbe = server.readinessProbe
    delete server.securityContext
    expect(await problemsOf(deployment)).toEqual([
      expect.stringContaining('replicas must be integer'),
      'Deployment.spec.template.spec.containers[0].readinesProbe is no field',
    ])
    expect(breachesOf(deployment)).toContain('server may gain privileges')
    server.envFrom = [{ secretRef: { name: 'nobody' } }]
    expect(danglingIn(deployment, of('external'))).toEqual(['secret nobody'])
  })

  it('a few values are enough: a server with its disk, and nothing else', () => {
    expect(
      of('external')
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['Deployment', 'NetworkPolicy', 'PersistentVolumeClaim', 'Secret', 'Service', 'ServiceAccount'].sort())
    const { stringData } = find('external', 'Secret', 'weir') as Manifest
    expect(readConfig(stringData).databaseUrl).toBe('mysql://weir:for-tests@db.example.com:3306/lake')
  })

  it('the address of the bundled database is that of its service', () => {
    const { stringData } = find('everything', 'Secret', 'weir') as Manifest
    const { hostname, port, password } = new URL(stringData.DB_URL)
    const service = find('everything', 'Service', hostname) as Manifest
    expect(service.spec.ports[0].port).toBe(Number(port))
    expect(password).toBe(SECRET)
    expect(() => readConfig(stringData)).not.toThrow()
  })

  it('servers run tasks themselves, unless there are workers', () => {
    const runsTasksOn = (name: string) =>
      containersOf(find(name, 'Deployment', 'weir') as Manifest)[0].env.find(
        (each: any) => each.name === 'RUN_TASKS_ON',
      )?.value
    expect(runsTasksOn('external')).toBeUndefined()
    expect(runsTasksOn('everything')).toBe('workers')
    expect(runsTasksOn('several-servers')).toBe('workers')
  })

  it('workers: a number, or as many as their processors ask for', () => {
    expect(find('several-servers', 'Deployment', 'weir-worker')?.spec.replicas).toBe(4)
    expect(find('everything', 'Deployment', 'weir-worker')?.spec.replicas).toBeUndefined()
    expect(find('everything', 'HorizontalPodAutoscaler', 'weir-worker')?.spec).toMatchObject({
      minReplicas: 2,
      maxReplicas: 6,
    })
  })

  it.each([
    ['everything', 'postgres', 'weir'],
    ['several-servers', 'mysql', 'delivery'],
  ])('%s: every dashboard for %s, asking the datasource %s', (name, engine, datasource) => {
    const templates = globSync(`dashboards/${engine}/*.json`, { cwd: root }).map((path) => basename(path))
    const maps = of(name).filter(({ metadata }) => metadata.labels.grafana_dashboard === '1')
    expect(maps.flatMap(({ data }) => Object.keys(data)).sort()).toEqual(templates.map((each) => `weir-${each}`).sort())
    for (const { data } of maps) {
      const text = Object.values(data)[0] as string
      expect(JSON.parse(text).panels.length).toBeGreaterThan(0)
      expect(text).toContain(`"uid":"${datasource}"`.replace(':', text.includes('"uid": ') ? ': ' : ':'))
      expect(text).not.toContain('${DS_')
    }
  })

  const given = (...settings: string[]) => settings.flatMap((setting) => ['--set', setting])
  const ENOUGH = given('secrets.encryptionSecret=0123456789abcdef', 'database.url=postgres://weir@db/lake')
  it.each([
    [[], /secrets\.encryptionSecret is empty: set it and keep a copy, or name secrets\.existingSecret/],
    [given('secrets.encryptionSecret=0123456789abcdef'), /There is no database: set database\.url/],
    [[...ENOUGH, ...given('server.replicas=2')], /one node only: set persistence\.accessMode to ReadWriteMany/],
    [
      [...ENOUGH, ...given('server.replicas=2', 'persistence.enabled=false')],
      /a token of its own: set secrets\.authToken/,
    ],
    [[...ENOUGH, ...given('ingress.enabled=true')], /ingress\.hosts is empty/],
    [[...ENOUGH, ...given('sever.replicas=2')], /sever.*not allowed/s],
    [[...ENOUGH, ...given('auth=password')], /auth.*must be one of/s],
    [[...ENOUGH, ...given('database.url=oracle://db')], /database.*url.*pattern/s],
  ])('refuses %j with a sentence', (parameters, sentence) => {
    expect(() => render(parameters)).toThrow(sentence)
  })
})

/** Names in a manifest that nothing in the release has. */
function danglingIn(manifest: Manifest, all: readonly Manifest[]): string[] {
  const has = (kind: string, name: string) => all.some((each) => each.kind === kind && each.metadata.name === name)
  const selects = (labels: object) =>
    all.some(({ spec }) => spec?.template && isSubset(labels, spec.template.metadata.labels))
  const { kind, spec } = manifest
  const wanted: [boolean, string][] = []
  for (const { envFrom = [], env = [], volumeMounts = [] } of containersOf(manifest)) {
    const secrets = [
      ...envFrom.map((each: any) => each.secretRef.name),
      ...env.flatMap((each: any) => each.valueFrom?.secretKeyRef.name ?? []),
    ]
    for (const name of secrets) wanted.push([has('Secret', name) || name === 'weir-secrets', `secret ${name}`])
    const volumes = [
      ...(podOf(manifest).volumes ?? []),
      ...(spec.volumeClaimTemplates ?? []).map((each: any) => each.metadata),
    ]
    for (const { name } of volumeMounts) wanted.push([volumes.some((each) => each.name === name), `volume ${name}`])
  }
  const claim = podOf(manifest)?.volumes?.find((each: any) => each.persistentVolumeClaim)?.persistentVolumeClaim
    .claimName
  if (claim) wanted.push([has('PersistentVolumeClaim', claim), `claim ${claim}`])
  const account = podOf(manifest)?.serviceAccountName
  if (account && account !== 'default') wanted.push([has('ServiceAccount', account), `account ${account}`])
  if (kind === 'Service') {
    wanted.push([selects(spec.selector), 'pods of the service'])
    const targets = all.filter((each) => isSubset(spec.selector, each.spec?.template?.metadata.labels ?? {}))
    for (const { targetPort } of spec.ports) {
      const ports = targets.flatMap(containersOf).flatMap(({ ports: own = [] }) => own)
      wanted.push([ports.some(({ name }) => name === targetPort), `port ${targetPort}`])
    }
  }
  if (kind === 'NetworkPolicy' || kind === 'PodDisruptionBudget') {
    wanted.push([selects((spec.podSelector ?? spec.selector).matchLabels), 'pods of the policy'])
  }
  if (kind === 'HorizontalPodAutoscaler') wanted.push([has('Deployment', spec.scaleTargetRef.name), 'its deployment'])
  if (kind === 'Ingress') {
    const backends = spec.rules.flatMap(({ http }: any) => http.paths.map((path: any) => path.backend.service))
    for (const { name, port } of backends) {
      const service = all.find((each) => each.kind === 'Service' && each.metadata.name === name)
      wanted.push([service?.spec.ports.some((each: any) => each.name === port.name) ?? false, `service ${name}`])
    }
  }
  return wanted.flatMap(([isThere, what]) => (isThere ? [] : [what]))
}

const isSubset = (part: object, whole: Readonly<Record<string, string>>) =>
  Object.entries(part).every(([key, value]) => whole[key] === value)
