/** Several routes use one repository: each changes its own action, and none removes what another wrote. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { reversePlan } from '../../traffic/engine/reverse.ts'
import { tick } from '../../traffic/engine/watch.ts'
import type { FakeCluster } from '../fake-kubernetes/fake-kubernetes.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { type GitRemote, kustomized, manifestsBelow, startGitRemote, startReconciler } from './support/git-remote.ts'
import type { RouteName } from './support/many-routes.ts'
import { setStage } from './support/stage.ts'

const NAMES: readonly RouteName[] = ['web', 'cart', 'media']
const PROPOSAL = 'weir/shop-web'
const MULTI_CLUSTER = 'alb.ingress.kubernetes.io/multi-cluster-target-group'

describeOneWithTables('several routes through a repository', (database) => {
  const stage = setStage(database)
  const { go, now } = stage
  let remote: GitRemote
  let reconcilers: ReturnType<typeof startReconciler>[] = []
  afterEach(() => {
    for (const reconciler of reconcilers) reconciler.stop()
    reconcilers = []
    remote.close()
  })

  const manifests = (folder: string, cluster: FakeCluster) =>
    Object.fromEntries(
      ['web', 'media'].map((name) => {
        const { apiVersion, kind, metadata, spec } = cluster.get('Ingress', 'shop', name)!
        const own = { name, namespace: 'shop', annotations: metadata.annotations }
        return [`${folder}/${name}.yaml`, stringify({ apiVersion, kind, metadata: own, spec }, { lineWidth: 0 })]
      }),
    )

  async function start(form: 'manifest' | 'kustomize') {
    const kustomization = 'resources:\n  - web.yaml\n  - media.yaml\n'
    const isBuilt = form === 'kustomize'
    remote = startGitRemote(
      isBuilt
        ? { 'blue/kustomization.yaml': kustomization, 'green/kustomization.yaml': kustomization }
        : { 'readme.txt': 'clusters' },
    )
    const row = await stage.start((plan) => {
      plan.mode = 'gitops'
      plan.steps = [plan.steps[0]!, plan.steps.at(-1)!]
      plan.gitops = {
        repository: remote.url,
        branch: 'main',
        merge: 'push',
        rollbackMerge: 'skip',
        rollbackMergeSeconds: 1,
        mergeTimeoutSeconds: 60,
        syncTimeoutSeconds: 60,
        author: { name: 'Weir', email: 'weir@example.com' },
        current: { form, path: 'blue', key: 'trafficSwitch' },
        target: { form, path: 'green', key: 'trafficSwitch' },
      }
    }, NAMES)
    process.env.GIT_ALLOW_LOCAL = 'true'
    const { current, target } = stage.world
    remote.commit('main', { ...manifests('blue', current), ...manifests('green', target) }, 'as it was')
    const buildOf = (folder: string) => (isBuilt ? kustomized(folder) : manifestsBelow(folder))
    reconcilers = [
      startReconciler(remote, 'main', current, buildOf('blue')),
      startReconciler(remote, 'main', target, buildOf('green')),
    ]
    return row
  }
  const all = (...weights: readonly [number, number]) => Object.fromEntries(NAMES.map((name) => [name, weights]))

  test.each(['manifest', 'kustomize'] as const)('as %s: both actions of one Ingress are written', async (form) => {
    const row = await start(form)
    const before = structuredClone(['web', 'media'].map((name) => stage.ingress(name)))
    await go(row, 'prepare')
    expect(stage.weights()).toEqual(all(100, 0))
    await go(row, 'advance')
    expect(stage.weights()).toEqual(all(0, 100))
    expect(remote.subjects('main').slice(0, 3).toReversed()).toEqual(
      NAMES.map((name) => `Traffic switch shop-web: step 1 of 1, weights 0/100 (${name})`),
    )
    await go(row, 'advance')
    stage.world.pointDnsAt('target')
    await go(row, 'dns')
    await go(row, 'cleanup', stage.confirmed())
    expect((await now(row)).state).toBe('cleaned-up')
    // Only the GitOps tool wrote to the clusters, and everything that was attached is removed again.
    expect([stage.world.current.calls, stage.world.target.calls]).toEqual([[], []])
    for (const { metadata, spec } of before) {
      const after = stage.ingress(metadata.name)
      expect(after.spec).toEqual(spec)
      const { [MULTI_CLUSTER]: _kept, ...annotations } = after.metadata.annotations
      expect(annotations).toEqual(metadata.annotations)
    }
    expect([...remote.files('main').keys()].filter((path) => path.includes('-switch'))).toEqual([])
  })

  test('routes that go back side by side are proposed together', async () => {
    const row = await start('manifest')
    await go(row, 'prepare')
    await go(row, 'advance')
    const hook = join(remote.url, 'hooks/update')
    mkdirSync(join(remote.url, 'hooks'), { recursive: true })
    writeFileSync(hook, '#!/bin/sh\n[ "$1" != refs/heads/main ] && exit 0\necho "main is protected" >&2\nexit 1\n')
    chmodSync(hook, 0o755)
    await expect(go(row, 'rollback')).rejects.toThrow(/merge branch weir\/shop-web into main/)
    expect((await now(row)).state).toBe('rolling-back')
    const proposed = [...remote.files(PROPOSAL)].filter(([path]) => path.startsWith('blue/')).map(([, text]) => text)
    expect(proposed.join('').match(/"weight":\d+/g)).toEqual(NAMES.flatMap(() => ['"weight":100', '"weight":0']))
    remote.squash(PROPOSAL, 'main')
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
    expect(stage.weights()).toEqual(all(100, 0))
  })

  test('the way back of such a switch exchanges the sides of the repository, too', async () => {
    await start('manifest')
    const { whole } = stage.world
    expect(reversePlan(whole, () => 'sg-0fedcba9876543210').gitops).toMatchObject({
      current: { path: 'green' },
      target: { path: 'blue' },
    })
  })
})
