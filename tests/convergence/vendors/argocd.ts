import fc from 'fast-check'
import { argocd } from '../../../src/plugins/argocd/plugin.ts'
import { type FakeArgocd, startFakeArgocd, TOKEN } from '../../fake-argocd/fake-argocd.ts'
import type { FakeApplication, World } from '../../fake-argocd/world.ts'
import { behindFaults, pick, type VendorChange, type VendorUnderTest } from '../support/vendor-under-test.ts'

const NAMES = ['web', 'api', 'team-a/web']
const ENDS = ['Succeeded', 'Failed', 'Error', 'Vanished']
const REPOSITORY = 'https://git.example.com/acme'

const application = fc.nat(NAMES.length - 1)
const any = fc.nat(9)

/**
 * Weir keeps records that Argo CD forgets, so a later run has more than a run from nothing. In these histories nothing is
 * forgotten: they keep a long sync history, and a failed operation is retried.
 */
const CHANGES = {
  sync: { arguments: [application] },
  begin: { arguments: [application] },
  finish: { arguments: [application, fc.nat(ENDS.length - 1)] },
  'move to another cluster': { arguments: [application, any] },
  'move to another project': { arguments: [application, any] },
  'rename cluster': { arguments: [any] },
  'change sources': { arguments: [application, any] },
} as const satisfies Record<string, VendorChange>

const isRunning = ({ status }: FakeApplication) => status.operationState?.phase === 'Running'
const hasFailed = ({ status }: FakeApplication) =>
  status.operationState !== undefined && !['Running', 'Succeeded'].includes(status.operationState.phase)

/** Begins an operation. After a failed one the same operation is retried: another may only follow a success. */
function begin(world: World, at: number): void {
  const chosen = world.applications[at] as FakeApplication
  if (hasFailed(chosen)) world.retry(chosen)
  else if (!isRunning(chosen)) world.begin(chosen)
}

const APPLY: Record<keyof typeof CHANGES, (world: World, ...parameters: any[]) => void> = {
  sync(world, at) {
    begin(world, at)
    APPLY.finish(world, at, 0)
  },
  begin,
  finish(world, at, end) {
    const chosen = world.applications[at] as FakeApplication
    if (isRunning(chosen)) world.finish(chosen, ENDS[end])
  },
  'move to another cluster'(world, at, number) {
    const server = pick(world.clusters, number)?.server
    Object.assign((world.applications[at] as FakeApplication).spec.destination, { server })
  },
  'move to another project': (world, at, number) =>
    Object.assign((world.applications[at] as FakeApplication).spec, { project: number % 2 ? 'shop' : 'production' }),
  'rename cluster': (world, number) => Object.assign(pick(world.clusters, number)!, { name: `cluster ${number}` }),
  'change sources'(world, at, number) {
    const { spec } = world.applications[at] as FakeApplication
    const source = { repoURL: `${REPOSITORY}/${number}`, path: 'deploy', targetRevision: 'main' }
    delete spec.source
    delete spec.sources
    Object.assign(spec, number % 2 ? { source } : { sources: [source, { ...source, repoURL: `${REPOSITORY}/values` }] })
  },
}

export const argocdVendor: VendorUnderTest = {
  name: 'argocd',
  interfaces: [argocd],
  scopes: NAMES.map((name) => ({ options: { applicationName: name }, row: { name } })),
  rules: [{ env_name_pattern: '(?i)prod' }, { deployment_pattern: 'web' }, { production_pattern: 'cluster' }],
  lists: ['/applications/web', '/applications/', '/clusters'],
  changes: CHANGES,
  start: (now) =>
    behindFaults<FakeArgocd>({
      async begin() {
        const fake = await startFakeArgocd()
        fake.setNow(() => new Date(now()))
        const { world } = fake
        world.historyLimit = 10_000
        world.clusters.push({ server: 'https://10.0.0.1', name: 'prod-eu' })
        for (const called of NAMES) {
          const [name = '', namespace] = called.split('/').reverse()
          world.add(name, namespace === undefined ? {} : { namespace })
        }
        for (let number = 0; number < 6; number++) APPLY.sync(world, number % NAMES.length)
        APPLY.begin(world, 0)
        return fake
      },
      connection: (url) => ({ endpoint: new URL('./api/v1/', url).href, token: TOKEN }),
      change: ({ world }, name, parameters) => APPLY[name as keyof typeof CHANGES](world, ...parameters),
    }),
}
