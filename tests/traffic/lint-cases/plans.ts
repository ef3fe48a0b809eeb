/** Lint cases about a plan as a whole: gates, git, clusters, names, manifests. */
import type { Code } from '../../../traffic/model/finding.ts'
import { annotate, type Case, inBranch, ingress, metricGate, ok, plan, routes, throughGit } from './support.ts'

export const plansCases = {
  'TS-Q01': [
    {
      path: 'steps[1].gates[0]',
      says: /neither max, min nor maxRatio/,
      bad: () => metricGate(1, { kind: 'cloudWatch', metric: 'errorRate' }),
      good: () => metricGate(1, { kind: 'cloudWatch', metric: 'errorRate', max: 0.01 }),
    },
    {
      path: 'steps[1].gates[0].maxRatio',
      says: /no query for the current side/,
      bad: () => metricGate(1, { kind: 'prometheus', target: 'up', maxRatio: 2 }),
      good: () => metricGate(1, { kind: 'prometheus', target: 'up', current: 'up', maxRatio: 2 }),
    },
    {
      path: 'steps[3].gates[0].maxRatio',
      says: /no traffic in this step/,
      bad: () => metricGate(3, { kind: 'cloudWatch', metric: 'latency', maxRatio: 2 }),
      good: () => metricGate(3, { kind: 'cloudWatch', metric: 'latency', maxRatio: 2, max: 1 }),
    },
  ],
  'TS-Q02': [
    {
      path: 'steps[1].gates[0]',
      says: /3 periods of 600 s do not fit/,
      bad: () => metricGate(1, { kind: 'cloudWatch', metric: 'errorRate', max: 0.01, periodSeconds: 600 }),
      good: () => metricGate(1, { kind: 'cloudWatch', metric: 'errorRate', max: 0.01 }),
    },
  ],
  'TS-O01': [
    {
      path: 'gitops',
      says: /needs the section/,
      bad: () => plan((raw) => (raw.mode = 'gitops')),
      good: () => plan(throughGit(ok)),
    },
    {
      path: 'gitops',
      says: /no meaning in mode apply/,
      bad: () => plan(throughGit((raw) => (raw.mode = 'apply'))),
      good: () => plan(throughGit(ok)),
    },
  ],
  'TS-O02': [
    ...['https://ada:secret@git.example.com/x.git', 'ftp://git.example.com/x', '--upload-pack=x', 'git@host:a b'].map(
      (repository): Case => ({
        path: 'gitops.repository',
        says: /without a password/,
        bad: () => plan(throughGit((raw) => (raw.gitops.repository = repository))),
        good: () => plan(throughGit((raw) => (raw.gitops.repository = 'git@git.example.com:platform/clusters.git'))),
      }),
    ),
    ...['../secrets', '/etc', 'a//b', '.git/config', ''].map(
      (path): Case => ({
        path: 'gitops.current.path',
        says: /within the repository/,
        bad: () => plan(throughGit((raw) => (raw.gitops.current.path = path))),
        good: () => plan(throughGit(ok)),
      }),
    ),
    ...['-f', 'a..b', 'x.lock', 'refs//x'].map(
      (branch): Case => ({
        path: 'gitops.branch',
        says: /name of a branch/,
        bad: () => plan(throughGit((raw) => (raw.gitops.branch = branch))),
        good: () => plan(throughGit((raw) => (raw.gitops.branch = 'release/1.2'))),
      }),
    ),
    {
      path: 'gitops.target.path',
      says: /same files/,
      bad: () => plan(throughGit((raw) => (raw.gitops.target.path = raw.gitops.current.path))),
      good: () => plan(throughGit((raw) => Object.assign(raw.gitops.target, { path: 'blue', branch: 'green' }))),
    },
    {
      path: 'gitops.proposalBranch',
      says: /follow/,
      bad: () => plan(throughGit((raw) => (raw.gitops.proposalBranch = 'main'))),
      good: () => plan(throughGit((raw) => (raw.gitops.proposalBranch = 'weir/shop'))),
    },
  ],
  'TS-O03': [
    {
      path: 'cleanup.currentIngress',
      says: /form helm/,
      bad: () =>
        plan(
          throughGit((raw) => {
            raw.gitops.current.form = 'helm'
            raw.cleanup = { currentIngress: 'delete-ingress' }
          }),
        ),
      good: () => plan(throughGit((raw) => (raw.cleanup = { currentIngress: 'delete-ingress' }))),
    },
  ],
  'TS-O04': [
    {
      path: 'gitops.current.path',
      says: /the cluster has .*"api".*main .*"web"/,
      bad: () => inBranch((object) => (object.spec.rules[0].http.paths[0].backend.service.name = 'api')),
      good: () => inBranch(ok),
    },
  ],
  'TS-O05': [
    {
      path: 'gitops.current.key',
      says: /trafficSwitch has room for one route, but routes web and cart would both use it/,
      bad: () => routes(throughGit((raw) => (raw.gitops.current.form = 'helm'))),
      good: () => routes(throughGit((raw) => (raw.gitops.current.form = 'kustomize'))),
    },
    {
      path: 'gitops.target.key',
      says: /shop.move has room for one route/,
      bad: () => routes(throughGit((raw) => Object.assign(raw.gitops.target, { form: 'helm', key: 'shop.move' }))),
      good: () => plan(throughGit((raw) => Object.assign(raw.gitops.target, { form: 'helm', key: 'shop.move' }))),
    },
  ],
  'TS-C01': [
    {
      path: 'target.cluster',
      says: /blue/,
      bad: () => plan((raw) => (raw.target.cluster = 'blue')),
      good: () => plan(ok),
    },
  ],
  'TS-C02': [
    {
      path: 'target.ingress.host',
      says: /differs/,
      bad: () => plan((raw) => (raw.target.ingress.host = 'new.example.com')),
      good: () => plan(ok),
    },
  ],
  'TS-M01': [
    {
      path: 'multi-cluster-target-group',
      says: /true/,
      bad: () => ingress(annotate('multi-cluster-target-group', true)),
      good: () => ingress(ok),
    },
  ],
  'TS-M02': [
    {
      path: 'multicluster-target-group',
      says: /did you mean multi-cluster-target-group/,
      bad: () => ingress(annotate('multicluster-target-group', 'true')),
      good: () => ingress(ok),
    },
    {
      path: 'action.web',
      says: /did you mean actions\./,
      bad: () => ingress(annotate('action.web', '{}')),
      good: () => ingress(ok),
    },
  ],
  'TS-M03': [
    {
      path: 'multi-cluster-target-group',
      says: /"yes"/,
      bad: () => ingress(annotate('multi-cluster-target-group', 'yes')),
      good: () => ingress(annotate('multi-cluster-target-group', 'T')),
    },
  ],
  'TS-N01': [
    {
      path: 'current.namespace',
      says: /"Shop"/,
      bad: () => plan((raw) => (raw.current.namespace = 'Shop')),
      good: () => plan(ok),
    },
  ],
} satisfies Partial<Record<Code, readonly Case[]>>
