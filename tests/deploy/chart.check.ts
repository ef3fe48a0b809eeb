/** The chart as Helm renders it. `npm test` runs this if Helm is there, or if something that it reads has changed. */
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { writeTemplates } from '../../scripts/write-dashboards.ts'
import { readConfig } from '../../src/config/config.ts'
import { UNFINISHED } from '../../src/control-plane/runs/states.ts'
import { danglingIn } from './support/dangling.ts'
import { BUILD_LIMIT_MS, ensureHelm, lint, type Manifest, missing, render } from './support/helm.ts'
import { breachesOf, containersOf, podOf, problemsOf, templateOf } from './support/kubernetes.ts'
import { missing as noPromtool, promtool } from './support/promtool.ts'
import { defaultPort, isCommand, isPinnedImage, isProbe, isSecretName, isSetting, read, root } from './support/weir.ts'

const CASES = ['external', 'everything', 'several-servers', 'watched', 'restored']
const OF_WEIR = ['server', 'worker', 'reader', 'backup', 'restore']
const fileOf = (name: string) => join(root, 'tests/deploy/values', `${name}.yaml`)
/** The value of every secret in the values files. */
const SECRET = 'for-tests'
const reason = missing ? ` (skipped: ${missing})` : ''

describe.skipIf(missing)(`the chart, by Helm${reason}`, () => {
  let rendered: Readonly<Record<string, Manifest[]>>
  const of = (name: string) => rendered[name] as Manifest[]
  const find = (name: string, kind: string, own: string) =>
    of(name).find((each) => each.kind === kind && each.metadata.name === own)

  beforeAll(async () => {
    writeTemplates()
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
          if (!OF_WEIR.includes(own)) continue
          expect(isCommand(args), args.join(' ')).toBe(true)
          for (const { name: variable } of env) expect(isSetting(variable), variable).toBe(true)
          expect(new Set(env.map((each: { name: string }) => each.name)).size, own).toBe(env.length)
          const values = env.map(({ name: variable, value }: { name: string; value: string }) => [variable, value])
          expect(() => readConfig(Object.fromEntries(values))).not.toThrow()
        }
      }
    })

    it('is read by Prometheus on a port that asks nobody who they are', () => {
      const watched = of(name).filter((each) => each.kind === 'Deployment')
      const service = find(name, 'Service', 'weir-metrics') as Manifest
      expect(service.spec.type ?? 'ClusterIP').toBe('ClusterIP')
      for (const manifest of watched) {
        const [{ env, ports }] = containersOf(manifest)
        const value = env.find((each: { name: string }) => each.name === 'METRICS_PORT').value
        expect(ports).toContainEqual({ name: 'metrics', containerPort: Number(value) })
        expect(service.spec.ports).toEqual([{ name: 'metrics', port: Number(value), targetPort: 'metrics' }])
        const { labels, annotations = {} } = templateOf(manifest).metadata
        expect(labels).toMatchObject(service.spec.selector)
        const monitored = find(name, 'ServiceMonitor', 'weir') !== undefined
        expect(annotations['prometheus.io/port']).toBe(monitored ? undefined : value)
        const policy = find(name, 'NetworkPolicy', `weir-${labels['app.kubernetes.io/component']}`)
        if (policy)
          expect(policy.spec.ingress.flatMap((rule: any) => rule.ports)).toContainEqual({
            port: 'metrics',
            protocol: 'TCP',
          })
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
    const scaled = structuredClone(find('watched', 'ScaledObject', 'weir-worker') as Manifest)
    scaled.spec.minReplicas = scaled.spec.minReplicaCount
    scaled.spec.maxReplicaCount = 'many'
    expect(await problemsOf(scaled)).toEqual([
      expect.stringContaining('maxReplicaCount must be integer'),
      'spec.minReplicas is no field',
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
    ).toEqual(
      ['Deployment', 'NetworkPolicy', 'PersistentVolumeClaim', 'Secret', 'Service', 'Service', 'ServiceAccount'].sort(),
    )
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

  it('workers: as many as there are tasks', () => {
    const { spec } = find('watched', 'ScaledObject', 'weir-worker') as Manifest
    expect(spec).toMatchObject({ minReplicaCount: 1, maxReplicaCount: 12, fallback: { replicas: 3 } })
    const [{ metadata, authenticationRef }] = spec.triggers
    expect(metadata).toMatchObject({ serverAddress: 'http://prometheus.monitoring:9090', threshold: '4' })
    expect(authenticationRef).toEqual({ name: 'prometheus-reader' })
    const [, measure, states] = /(weir_\w+)\{namespace="default",status=~"(.+)"\}/.exec(metadata.query) ?? []
    expect(measure).toBe('weir_tasks')
    expect(states?.split('|').toSorted()).toEqual(UNFINISHED.toSorted())
    expect(find('watched', 'Deployment', 'weir-worker')?.spec.replicas).toBeUndefined()
    expect(of('watched').some(({ kind }) => kind === 'HorizontalPodAutoscaler')).toBe(false)
  })

  it.skipIf(noPromtool)('as many tasks as wait or run, however many processes tell of them', () => {
    const { query } = (find('watched', 'ScaledObject', 'weir-worker') as Manifest).spec.triggers[0].metadata
    const series = (instance: string, status: string, value: number) => ({
      series: `weir_tasks{namespace="default",instance="${instance}",status="${status}"}`,
      values: `${value}x10`,
    })
    const test = {
      interval: '1m',
      input_series: [
        series('a', 'TASK_CREATED', 3),
        series('b', 'TASK_CREATED', 3),
        series('a', 'TASK_RUNNING', 2),
        series('b', 'TASK_RUNNING', 2),
        series('a', 'TASK_COMPLETED', 40),
      ],
      promql_expr_test: [{ expr: query, eval_time: '5m', exp_samples: [{ labels: '{}', value: 5 }] }],
    }
    const folder = mkdtempSync(join(tmpdir(), 'weir-query-'))
    writeFileSync(join(folder, 'query.test.yaml'), stringify({ tests: [test] }))
    const { status, text } = promtool(folder, 'test', 'rules', 'query.test.yaml')
    rmSync(folder, { recursive: true })
    expect(text).not.toContain('FAILED')
    expect(status).toBe(0)
  })

  it('one disruption budget for servers, one for workers', () => {
    const budgets = of('everything').filter(({ kind }) => kind === 'PodDisruptionBudget')
    expect(budgets.map(({ spec }) => spec.selector.matchLabels['app.kubernetes.io/component'])).toEqual([
      'server',
      'worker',
    ])
  })

  it('settings of all pods, and those of servers and workers before them', () => {
    const settingOf = (kind: string, own: string, variable: string) =>
      containersOf(find('watched', kind, own) as Manifest)[0].env.find((each: any) => each.name === variable)?.value
    expect(settingOf('Deployment', 'weir', 'API_REQUESTS_PER_HOUR')).toBe('1000000')
    expect(settingOf('Deployment', 'weir-worker', 'API_REQUESTS_PER_HOUR')).toBe('500')
    for (const [kind, own] of [
      ['Deployment', 'weir'],
      ['Deployment', 'weir-worker'],
      ['CronJob', 'weir-backup'],
    ] as const) {
      expect(settingOf(kind, own, 'ENDPOINT_CIDR_BLACKLIST')).toBe('10.0.0.0/8')
    }
    expect(settingOf('CronJob', 'weir-backup', 'TRUSTED_PROXIES')).toBeUndefined()
  })

  it('certificate authorities and volumes of its owner, in every pod of Weir', () => {
    const pods = of('watched').filter((each) => containersOf(each).some(({ name }) => OF_WEIR.includes(name)))
    expect(pods.map(({ kind }) => kind).sort()).toEqual(['CronJob', 'Deployment', 'Deployment'])
    for (const manifest of pods) {
      const [{ env, volumeMounts }] = containersOf(manifest)
      const { value } = env.find((each: any) => each.name === 'NODE_EXTRA_CA_CERTS')
      expect(volumeMounts).toContainEqual({
        name: 'certificate-authorities',
        mountPath: value,
        subPath: 'ca.crt',
        readOnly: true,
      })
      expect(volumeMounts).toContainEqual({ name: 'ssh', mountPath: '/etc/weir/ssh', readOnly: true })
      const { configMap } = podOf(manifest).volumes.find((each: any) => each.name === 'certificate-authorities')
      expect(configMap).toEqual({ name: 'authorities', items: [{ key: 'bundle.pem', path: 'ca.crt' }] })
    }
  })

  it('the rules of Prometheus are those of the file, without those that are left out', () => {
    const { groups } = (find('watched', 'PrometheusRule', 'weir') as Manifest).spec
    const all = parse(read('deploy/prometheus/rules.yaml')).groups
    const kept = all.map(({ name, rules }: any) => ({
      name,
      rules: rules.filter(({ alert }: any) => alert !== 'WeirProjectStale'),
    }))
    expect(groups).toEqual(kept)
  })

  it('backups: to a bucket or a volume, with what stays', () => {
    const commandOf = (name: string) => containersOf(find(name, 'CronJob', 'weir-backup') as Manifest)[0].args
    expect(commandOf('watched')).toEqual(['backup', '--to', 's3://backups/weir', '--keep-days', '30', '--rehearse'])
    expect(commandOf('restored')).toEqual(['backup', '--to', '/backups', '--keep', '14'])
    const [{ env, envFrom }] = containersOf(find('watched', 'CronJob', 'weir-backup') as Manifest)
    expect(env).toContainEqual({ name: 'BACKUP_S3_ENDPOINT', value: 'https://minio.example.com:9000' })
    expect(envFrom).toContainEqual({ secretRef: { name: 'weir-secrets' } })
    expect(find('restored', 'PersistentVolumeClaim', 'weir-backups')?.metadata.annotations).toEqual({
      'helm.sh/resource-policy': 'keep',
    })
  })

  it('a restore has the database for itself', () => {
    // The job that creates the reader would wait for the restore, and the upgrade for that job.
    const [job, ...others] = of('restored').filter(({ kind }) => kind === 'Job') as [Manifest, ...Manifest[]]
    expect(others).toEqual([])
    expect(containersOf(job)[0].args).toEqual(['restore', '/backups/weir-backup-20260131T021700Z.backup'])
    for (const own of ['weir', 'weir-worker']) expect(find('restored', 'Deployment', own)?.spec.replicas).toBe(0)
    expect(of('restored').some(({ kind }) => kind === 'HorizontalPodAutoscaler')).toBe(false)
    expect(find('restored', 'CronJob', 'weir-backup')?.spec.suspend).toBe(true)
    expect(find('watched', 'CronJob', 'weir-backup')?.spec.suspend).toBe(false)
  })

  it('the dashboard of Weir itself asks the Prometheus that the values name', () => {
    const { data } = find('watched', 'ConfigMap', 'weir-dashboard-own-health') as Manifest
    const { panels } = JSON.parse(data['weir-own-health.json'])
    const asked = panels.flatMap(({ targets = [] }: any) => targets.map(({ datasource }: any) => datasource.uid))
    expect(new Set(asked)).toEqual(new Set(['prometheus']))
    expect(find('everything', 'ConfigMap', 'weir-dashboard-own-health')).toBeUndefined()
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
})
