import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KyselyPlugin } from 'kysely'
import { afterEach, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { act } from '../../traffic/engine/engine.ts'
import type { SwitchRow } from '../../traffic/engine/store.ts'
import { planColumns } from '../../traffic/engine/stored-plan.ts'
import { tick } from '../../traffic/engine/watch.ts'
import type { Plan } from '../../traffic/model/plan.ts'
import { describeOneWithTables } from '../support/databases.ts'
import {
  type Build,
  type GitRemote,
  kustomized,
  manifestsBelow,
  startGitRemote,
  startReconciler,
} from './support/git-remote.ts'
import { setStage } from './support/stage.ts'

type GitSettings = NonNullable<Plan['gitops']>
const PROPOSAL = 'weir/shop-web'

/** An Ingress as people write it, with comments and with lists that are not indented. */
const ingress = (group: string) => `# Owned by the shop team.
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  namespace: shop
  annotations:
    alb.ingress.kubernetes.io/group.name: ${group} # never change it
    alb.ingress.kubernetes.io/target-type: ip
    alb.ingress.kubernetes.io/scheme: internet-facing
spec:
  ingressClassName: alb
  rules:
  - host: shop.example.com
    http:
      paths:
      - path: /
        pathType: Prefix
        backend:
          service:
            name: web
            port:
              number: 80
  - host: api.example.com
    http:
      paths:
      - path: /
        pathType: Prefix
        backend: { service: { name: api, port: { number: 80 } } }
`
const NEIGHBOUR = `---
# Not ours.
apiVersion: v1
kind: ConfigMap
metadata:   { name: settings,   namespace: shop }
data: {a: "1"}
`
const CHART_VALUES = `# Values of the chart.
replicas: 3
`

/** A template as docs/traffic.md shows it. */
const charted =
  (path: string, group: string): Build =>
  (files) => {
    const { trafficSwitch: values = {} } = parse(files.get(path)!)
    const object = parse(ingress(group))
    Object.assign(object.metadata.annotations, values.annotations)
    if (values.attached)
      object.spec.rules[0].http.paths[0].backend = {
        service: { name: values.actionName, port: { name: 'use-annotation' } },
      }
    return [object, ...(values.binding ? [values.binding] : [])]
  }

describeOneWithTables('a switch through a repository', (database) => {
  const stage = setStage(database)
  const { go, now } = stage
  let remote: GitRemote
  let reconcilers: ReturnType<typeof startReconciler>[] = []
  let stopMerging = () => {}
  afterEach(() => {
    stopMerging()
    for (const reconciler of reconcilers) reconciler.stop()
    reconcilers = []
    remote.close()
  })

  async function start(
    change: (gitops: GitSettings) => void = () => {},
    more: (plan: Plan) => void = () => {},
  ): Promise<SwitchRow> {
    remote = startGitRemote({
      'blue/web.yaml': ingress('shop-current') + NEIGHBOUR,
      'green/web.yaml': ingress('shop-target'),
      'base/web.yaml': ingress('shop-current'),
      'base/kustomization.yaml': 'resources:\n- web.yaml\n',
      'overlay/kustomization.yaml': '# Overlay of blue.\nresources:\n- ../base\n',
      'overlay-green/kustomization.yaml': 'resources:\n  - web.yaml\n',
      'overlay-green/web.yaml': ingress('shop-target'),
      'chart/blue.yaml': CHART_VALUES,
      'chart/green.yaml': CHART_VALUES,
    })
    const row = await stage.start((plan) => {
      plan.mode = 'gitops'
      plan.verifyTimeoutSeconds = 5
      plan.gitops = {
        repository: remote.url,
        branch: 'main',
        merge: 'push',
        rollbackMerge: 'skip',
        rollbackMergeSeconds: 1,
        mergeTimeoutSeconds: 20,
        syncTimeoutSeconds: 20,
        author: { name: 'Weir', email: 'weir@example.com' },
        current: { form: 'manifest', path: 'blue', key: 'trafficSwitch' },
        target: { form: 'manifest', path: 'green/web.yaml', key: 'trafficSwitch' },
      }
      change(plan.gitops)
      more(plan)
    })
    process.env.GIT_ALLOW_LOCAL = 'true'
    const { gitops } = stage.world.plan
    const buildOf = (side: 'current' | 'target', group: string): Build => {
      const { form, path } = gitops![side]
      if (form === 'kustomize') return kustomized(path)
      return form === 'helm' ? charted(path, group) : manifestsBelow(path.split('/')[0]!)
    }
    reconcilers = [
      startReconciler(remote, 'main', stage.world.current, buildOf('current', 'shop-current')),
      startReconciler(remote, 'main', stage.world.target, buildOf('target', 'shop-target')),
    ]
    return row
  }
  const live = () => stage.world.liveWeights()
  /** Merges proposals as soon as there are any, like a person would. */
  function startMerging(): void {
    let merged = ''
    const timer = setInterval(() => {
      const tip = remote.head(PROPOSAL)
      if (tip === undefined || tip === merged) return
      merged = tip
      remote.squash(PROPOSAL, 'main')
    }, 15)
    stopMerging = () => clearInterval(timer)
  }
  /** Changes the stored plan as if it had said so from the beginning, so that nothing depends on the speed of this machine. */
  const setTimeouts = (change: (gitops: GitSettings) => void) => {
    const plan = structuredClone(stage.world.plan)
    change(plan.gitops!)
    const { target_group_arn: _arn, ...columns } = planColumns(plan)
    return database.database.kysely.updateTable('_weir_traffic_switches').set(columns).execute()
  }
  const never = (gitops: GitSettings) => {
    gitops.mergeTimeoutSeconds = 0
    gitops.syncTimeoutSeconds = 0
  }

  const FORMS = {
    manifest: () => {},
    kustomize: (gitops: GitSettings) => {
      gitops.current = { form: 'kustomize', path: 'overlay', key: 'trafficSwitch' }
      gitops.target = { form: 'kustomize', path: 'overlay-green', key: 'trafficSwitch' }
    },
    helm: (gitops: GitSettings) => {
      gitops.current = { form: 'helm', path: 'chart/blue.yaml', key: 'trafficSwitch' }
      gitops.target = { form: 'helm', path: 'chart/green.yaml', key: 'trafficSwitch' }
    },
  }
  test.each(Object.entries(FORMS))(
    'as %s from prepare to clean-up: a commit a step, and nothing is left',
    async (form, change) => {
      const row = await start(change)
      const before = remote.files('main')
      await go(row, 'prepare')
      expect(live()).toEqual([100, 0])
      await go(row, 'advance')
      expect(live()).toEqual([90, 10])
      for (let step = 2; step < 5; step++) await go(row, 'advance')
      expect(live()).toEqual([0, 100])
      stage.world.pointDnsAt('target')
      await go(row, 'dns')
      await go(row, 'cleanup', stage.confirmed())
      expect((await now(row)).state).toBe('cleaned-up')
      expect(remote.subjects('main').toReversed()).toEqual([
        'as it was',
        'Traffic switch shop-web: annotations of Ingress web',
        'Traffic switch shop-web: TargetGroupBinding web-switch',
        'Traffic switch shop-web: step 0 of 3, weights 100/0',
        'Traffic switch shop-web: step 1 of 3, weights 90/10',
        'Traffic switch shop-web: step 2 of 3, weights 50/50',
        'Traffic switch shop-web: step 3 of 3, weights 0/100',
        'Traffic switch shop-web: step 3 of 3, the action is taken out',
        'Traffic switch shop-web: TargetGroupBinding web-switch is removed',
      ])
      // Only the GitOps tool wrote to the clusters.
      expect([stage.world.current.calls, stage.world.target.calls]).toEqual([[], []])
      expect(live()).toBeUndefined()
      const after = remote.files('main')
      // Only the setting that must not be undone is left.
      const MULTI_CLUSTER = /^.*multi-cluster-target-group.*\n/m
      for (const [path, text] of before) {
        if (form === 'manifest') expect(after.get(path)!.replace(MULTI_CLUSTER, ''), path).toBe(text)
        if (form === 'helm' && path.startsWith('chart/'))
          expect(Object.keys(parse(after.get(path)!).trafficSwitch?.annotations ?? {}).length).toBeLessThan(2)
      }
      const added = [...after.keys()].filter((path) => !before.has(path))
      expect(added).toEqual(
        form === 'kustomize' ? ['overlay-green/weir-shop-web-web.yaml', 'overlay/weir-shop-web-web.yaml'] : [],
      )
      for (const path of added)
        expect(parse(after.get(path)!)).toEqual([
          {
            op: 'add',
            path: '/metadata/annotations/alb.ingress.kubernetes.io~1multi-cluster-target-group',
            value: 'true',
          },
        ])
      expect(remote.git('log', '-1', '--format=%an <%ae>%n%b', 'main~5')).toMatch(
        /^Weir <weir@example.com>\nWeir-Switch: shop-web\n/,
      )
    },
  )

  test('somebody merges: a branch of its own, one commit, told what waits, and no second one when it is repeated', async () => {
    const row = await start((gitops) => (gitops.merge = 'wait'))
    startMerging()
    await go(row, 'prepare')
    stopMerging()
    await setTimeouts((gitops) => {
      gitops.merge = 'wait'
      never(gitops)
    })
    expect(live()).toEqual([100, 0])
    const before = remote.subjects('main').length
    await expect(go(row, 'advance')).rejects.toThrow(
      `merge branch ${PROPOSAL} into main of ${remote.url}: "Traffic switch shop-web: step 1 of 3, weights 90/10" waits for it`,
    )
    expect(await now(row)).toMatchObject({
      state: 'paused',
      problem: expect.stringContaining(`merge branch ${PROPOSAL}`),
    })
    const tip = remote.head(PROPOSAL)
    await expect(go(row, 'advance')).rejects.toThrow('waits for it')
    expect(remote.head(PROPOSAL)).toBe(tip)
    expect(remote.subjects('main')).toHaveLength(before)
    await setTimeouts((gitops) => (gitops.merge = 'wait'))
    remote.squash(PROPOSAL, 'main')
    await go(row, 'advance')
    expect(live()).toEqual([90, 10])
    // A proposal that is declined.
    const advancing = go(row, 'advance')
    while ([undefined, tip].includes(remote.head(PROPOSAL))) await new Promise((resolve) => setTimeout(resolve, 5))
    remote.git('update-ref', '-d', `refs/heads/${PROPOSAL}`)
    await expect(advancing).rejects.toThrow('somebody declined it')
    expect(live()).toEqual([90, 10])
  })

  test('a rollback wins over a step that no cluster has seen yet', async () => {
    const row = await start(
      () => {},
      (plan) => (plan.stickiness = { enabled: false, atFinalStep: 'disable' }),
    )
    await go(row, 'prepare')
    for (const reconciler of reconcilers) reconciler.isPaused = true
    await setTimeouts(never)
    await expect(go(row, 'advance')).rejects.toThrow('look at the tool that follows the branch')
    expect(remote.subjects('main')[0]).toContain('90/10')
    // The cluster still says 100/0, which is what the rollback wants. That alone is not enough.
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect(remote.subjects('main')[0]).toBe('Traffic switch shop-web: rollback, weights 100/0')
    for (const reconciler of reconcilers) reconciler.isPaused = false
    for (const reconciler of reconcilers) reconciler.reconcile()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(live()).toEqual([100, 0])
  })

  test('a step whose push is under way when a rollback takes over never arrives after it', async () => {
    const row = await start(
      () => {},
      (plan) => (plan.stickiness = { enabled: false, atFinalStep: 'disable' }),
    )
    await go(row, 'prepare')
    const [held, free] = ['held', 'free'].map((name) => join(remote.url, name)) as [string, string]
    setHook(
      `case "$(git log -1 --format=%s "$3")" in *90/10*) touch ${held}; while [ ! -e ${free} ]; do sleep 0.02; done;; esac\n`,
    )
    const advancing = go(row, 'advance').catch((error: Error) => error.message)
    while (!existsSync(held)) await new Promise((resolve) => setTimeout(resolve, 5))
    // Act like another process, which has its own copy of the repository.
    vi.resetModules()
    const { act: actElsewhere } = await import('../../traffic/engine/engine.ts')
    const { connect } = await import('../../traffic/engine/connect.ts')
    const elsewhere = { ...stage.engine, connect }
    expect((await actElsewhere(elsewhere, row.id, { action: 'rollback', actor: 'bob' })).state).toBe('rolled-back')
    writeFileSync(free, '')
    expect(await advancing).toContain('took over')
    expect(remote.subjects('main')[0]).toBe('Traffic switch shop-web: rollback, weights 100/0')
    expect(remote.files('main').get('blue/web.yaml')).toContain('"weight":100')
    expect(live()).toEqual([100, 0])
  })

  test('a rollback that may not be pushed moves the load balancer, proposes, and says what to merge', async () => {
    const row = await start()
    await go(row, 'prepare')
    await go(row, 'advance')
    expect(live()).toEqual([90, 10])
    refusePushes()
    await expect(go(row, 'rollback')).rejects.toThrow(
      /merge branch weir\/shop-web into main of .*rollback, weights 100\/0.*main is protected.*already sends everything to cluster blue/s,
    )
    // The target group stays in the rule, as the Ingress will have it.
    expect(live()).toEqual([100, 0])
    expect((await now(row)).state).toBe('rolling-back')
    const tip = remote.head(PROPOSAL)
    remote.squash(PROPOSAL, 'main')
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
    expect(tip).toBeDefined()
    expect(live()).toEqual([100, 0])
  })

  test.each(Object.entries(FORMS))(
    'as %s: an action that somebody broke in the branch is rolled back',
    async (form, change) => {
      const row = await start(change)
      await go(row, 'prepare')
      await go(row, 'advance')
      for (const reconciler of reconcilers) reconciler.isPaused = true
      const [path] = [...remote.files('main')].find(([, text]) => text.includes('"weight":90'))!
      const text = remote.files('main').get(path)!
      for (const broken of ['not JSON', '{}', 'null']) {
        remote.commit('main', { [path]: text.replace(/\{"type":"forward".*?\}\}\}/, broken) })
        expect(remote.files('main').get(path)).toContain(broken)
        await setTimeouts((gitops) => {
          change(gitops)
          gitops.syncTimeoutSeconds = 0
        })
        await expect(go(row, 'rollback')).rejects.toThrow('look at the tool that follows the branch')
        expect(remote.files('main').get(path)).toContain('"weight":100')
        expect(live()).toEqual([100, 0])
      }
      for (const reconciler of reconcilers) reconciler.isPaused = false
      await setTimeouts(change)
      expect((await go(row, 'rollback')).state, form).toBe('rolled-back')
      expect(live()).toEqual([100, 0])
    },
  )

  test('each conflict has an outcome and a sentence, and writes nothing', async () => {
    const row = await start()
    await go(row, 'prepare')
    await expect(go(row, 'advance', { directly: true, reason: 'test' })).rejects.toThrow(
      '--directly needs a plan in mode apply; this one is in mode gitops',
    )
    for (const reconciler of reconcilers) reconciler.isPaused = true
    const original = remote.files('main').get('blue/web.yaml')!
    const unchanged = async (sentence: string | RegExp) => {
      const head = remote.head('main')
      await expect(go(row, 'advance')).rejects.toThrow(sentence)
      expect(remote.head('main')).toBe(head)
    }
    remote.commit('main', { 'blue/web.yaml': original.replace('"weight":100', '"weight":77') })
    await unchanged(/web in blue\/web.yaml of branch main of .* was edited by hand: .*77.*Put it back/s)
    remote.commit('main', { 'blue/web.yaml': null })
    await unchanged('There is no Ingress shop/web in blue of branch main')
    remote.commit('main', { 'blue/web.yaml': 'kind: Ingress\nmetadata: { name: web\n' })
    await unchanged('blue/web.yaml of branch main')
    remote.commit('main', { 'blue/web.yaml': original })
    refusePushes()
    await unchanged(/refused to push to branch main. .git: remote: main is protected/)
    allowPushes()
    const away = `${remote.url}-away`
    renameSync(remote.url, away)
    await expect(go(row, 'advance')).rejects.toThrow(/There is no repository|cannot be reached/)
    renameSync(away, remote.url)
    for (const reconciler of reconcilers) reconciler.isPaused = false
    await go(row, 'advance')
    expect(live()).toEqual([90, 10])
  })

  test('commits of others on the branch of the proposal are never lost', async () => {
    const row = await start((gitops) => (gitops.merge = 'wait'))
    startMerging()
    await go(row, 'prepare')
    stopMerging()
    await setTimeouts((gitops) => {
      gitops.merge = 'wait'
      never(gitops)
    })
    await expect(go(row, 'advance')).rejects.toThrow('waits for it')
    remote.commit(PROPOSAL, { 'notes.txt': 'reviewed' }, 'a remark')
    const text = remote.files('main').get('blue/web.yaml')!
    remote.commit('main', { 'blue/web.yaml': `# moved\n${text}` }, 'unrelated')
    await expect(go(row, 'advance')).rejects.toThrow("has commits that are not Weir's; nothing was overwritten")
    expect(remote.subjects(PROPOSAL)[0]).toBe('a remark')
    await setTimeouts((gitops) => (gitops.merge = 'wait'))
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect(remote.subjects(PROPOSAL).slice(0, 2)).toEqual([
      'Traffic switch shop-web: rollback, weights 100/0',
      'a remark',
    ])
    expect(remote.files(PROPOSAL).get('blue/web.yaml')).toContain('"weight":100')
  })

  test('a proposal that nobody merged is withdrawn when the switch is given up', async () => {
    const row = await start(
      (gitops) => (gitops.merge = 'wait'),
      (plan) => (plan.stickiness = { enabled: false, atFinalStep: 'disable' }),
    )
    startMerging()
    const preparing = go(row, 'prepare').catch((error: Error) => error.message)
    // Stop before the step itself is merged.
    while (!remote.subjects('main')[0]!.includes('TargetGroupBinding')) await new Promise(setImmediate)
    stopMerging()
    const merged = remote.head(PROPOSAL)
    while ([undefined, merged].includes(remote.head(PROPOSAL))) await new Promise((resolve) => setTimeout(resolve, 5))
    const tip = remote.head(PROPOSAL)
    expect(remote.git('log', '-1', '--format=%s', tip!)).toContain('step 0 of 3, weights 100/0')
    await setTimeouts((gitops) => {
      gitops.merge = 'wait'
      never(gitops)
    })
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    expect(await preparing).toContain('took over')
    expect(remote.head(PROPOSAL)).toBe(tip)
    await setTimeouts((gitops) => (gitops.merge = 'wait'))
    const aborting = go(row, 'abort', stage.confirmed())
    while (remote.head(PROPOSAL) === tip) await new Promise((resolve) => setTimeout(resolve, 5))
    startMerging()
    expect((await aborting).state).toBe('aborted')
    // The last proposal, which removes multi-cluster mode, was merged: nothing is left to merge.
    const main = remote.files('main')
    expect(remote.head(PROPOSAL) === undefined ? main : remote.files(PROPOSAL)).toEqual(main)
    expect(remote.files('main').get('green/web.yaml')).not.toContain('multi-cluster')
    expect(remote.files('main').get('blue/web.yaml')).not.toContain('web-switch')
  })

  test('killed at every journal entry: no commit is made twice', async () => {
    const row = await start()
    const journalEntries = async (action: 'prepare' | 'advance' | 'rollback') => {
      for (let entries = 1; ; entries++) {
        const { kysely } = database.database
        const engine = {
          ...stage.engine,
          database: { ...database.database, kysely: kysely.withPlugin(dyingAfter(entries)) },
        }
        const end = await act(engine, row.id, { action, actor: 'ada' }).then(
          () => 'done',
          (error: Error) => error.message,
        )
        await kysely.updateTable('_weir_traffic_switches').set({ lease_holder: null }).execute()
        if (end === 'done') return entries
        expect(end).toBe('killed')
        const { state, verified_at } = await now(row)
        // Killed after its last journal entry.
        if (action === 'advance' && state === 'shifting' && verified_at !== null) return entries
        if (['prepared', 'rolled-back'].includes(state)) return entries
      }
    }
    expect(await journalEntries('prepare')).toBeGreaterThan(3)
    await journalEntries('advance')
    expect(live()).toEqual([90, 10])
    await journalEntries('rollback')
    expect(live()).toEqual([100, 0])
    expect(remote.subjects('main').toReversed()).toEqual([
      'as it was',
      'Traffic switch shop-web: annotations of Ingress web',
      'Traffic switch shop-web: TargetGroupBinding web-switch',
      'Traffic switch shop-web: step 0 of 3, weights 100/0',
      'Traffic switch shop-web: step 1 of 3, weights 90/10',
      'Traffic switch shop-web: rollback, weights 100/0',
    ])
  })

  /** Sets a script that the server runs before it accepts a push to a branch. */
  function setHook(script: string): void {
    const hook = join(remote.url, 'hooks/update')
    mkdirSync(join(remote.url, 'hooks'), { recursive: true })
    writeFileSync(hook, `#!/bin/sh\n[ "$1" != refs/heads/main ] && exit 0\n${script}`)
    chmodSync(hook, 0o755)
  }
  const refusePushes = () => setHook('echo "main is protected" >&2\nexit 1\n')
  const allowPushes = () => rmSync(join(remote.url, 'hooks/update'))
})

/** Fails every query after this many journal entries, as if the process had been killed. */
function dyingAfter(entries: number): KyselyPlugin {
  let left = entries
  return {
    transformQuery({ node }) {
      if (left === 0) throw new Error('killed')
      const isEntry = node.kind === 'InsertQueryNode' && JSON.stringify(node.into).includes('_weir_traffic_journal')
      if (isEntry) left--
      return node
    },
    transformResult: async ({ result }) => result,
  }
}
