/** Scenes in which a fake API server could be more lenient than a real one. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { act } from '../../traffic/engine/engine.ts'
import { preview } from '../../traffic/engine/preview.ts'
import type { SwitchRow } from '../../traffic/engine/store.ts'
import { tick } from '../../traffic/engine/watch.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { freePort } from '../support/servers.ts'
import { setStage } from '../traffic/support/stage.ts'
import { type ApiServer, type Etcd, startApiServer, startEtcd } from './api-server.ts'
import { program } from './program.ts'
import { furnish, openRealCluster, type RealCluster } from './real-cluster.ts'

const INGRESS = '/apis/networking.k8s.io/v1/namespaces/shop/ingresses/web'
const BINDINGS = '/apis/elbv2.k8s.aws/v1beta1/namespaces/shop/targetgroupbindings'
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const ACTION = 'alb.ingress.kubernetes.io/actions.web-switch'
const APPLY = 'application/apply-patch+yaml'

let etcd: Etcd
const servers = {} as Record<'current' | 'target', ApiServer>

beforeAll(async () => {
  etcd = await startEtcd()
  for (const side of ['current', 'target'] as const) {
    servers[side] = await startApiServer(program, etcd, side)
    await furnish(servers[side])
  }
})
afterAll(async () => {
  for (const server of Object.values(servers)) await server.stop()
  await etcd?.close()
})

describeEachDatabase('real API servers', (database) => {
  const stage = setStage(database, (side) => openRealCluster(servers[side]))
  const { start, go, shift, now, journal } = stage
  const settled = () => Promise.all([stage.world.current, stage.world.target].map((each) => each.settled!()))
  const live = async () => (await servers.current.send('GET', INGRESS)).body
  const managers = async () => (await live()).metadata.managedFields.map(({ manager }: any) => manager)
  /** Repeats the check until the controller has seen the server's state. */
  const seen = async (check: () => void): Promise<void> => {
    for (let tries = 0; ; tries++) {
      await settled()
      try {
        return check()
      } catch (error) {
        if (tries > 100) throw error
        await sleep(50)
      }
    }
  }
  const plain = ({ metadata, spec }: any) => {
    // This annotation stays on purpose: if it were switched back, the controller could forget targets.
    const { 'alb.ingress.kubernetes.io/multi-cluster-target-group': _stays, ...annotations } = metadata.annotations
    return { spec, annotations, finalizers: metadata.finalizers }
  }
  /** Applies the owner's manifest for the Ingress, like `kubectl apply --server-side`. */
  const applyAsOwner = (manifest: object, isForced = false) =>
    servers.current.send(
      'PATCH',
      `${INGRESS}?fieldManager=owner&force=${isForced}`,
      JSON.stringify({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', ...manifest }),
      APPLY,
    )

  async function withWebhookAway(work: () => Promise<void>): Promise<void> {
    const url = `https://127.0.0.1:${await freePort()}/validate`
    const webhook = {
      name: 'ingress.weir.test',
      failurePolicy: 'Fail',
      sideEffects: 'None',
      timeoutSeconds: 1,
      admissionReviewVersions: ['v1'],
      clientConfig: { url },
      rules: [{ apiGroups: ['networking.k8s.io'], apiVersions: ['v1'], operations: ['*'], resources: ['ingresses'] }],
    }
    const object = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'away' },
      webhooks: [webhook],
    }
    const made = await servers.current.send('POST', WEBHOOKS, object)
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    try {
      // The server notices the change a moment later.
      const patch = { metadata: { labels: { tried: 'yes' } } }
      const isRefused = async () =>
        (await servers.current.send('PATCH', `${INGRESS}?dryRun=All`, patch, 'application/merge-patch+json')).status ===
        500
      while (!(await isRefused())) await sleep(50)
      await work()
    } finally {
      await servers.current.send('DELETE', `${WEBHOOKS}/away`)
    }
  }

  test('from the first plan to clean-up; nothing of ours is left, and the owner can apply again', async () => {
    const row = await start()
    const before = await live()
    await shift(row, 4)
    expect((await now(row)).state).toBe('switched')
    expect(stage.world.liveWeights()).toEqual([0, 100])
    stage.world.pointDnsAt('target')
    await go(row, 'dns')
    await go(row, 'cleanup', stage.confirmed())
    const after = await live()
    expect(plain(after)).toEqual(plain(before))
    expect(await managers()).not.toContain('weir-traffic')
    expect((await servers.target.send('GET', `${BINDINGS}/web-switch`)).status).toBe(404)
    const { name, namespace, annotations } = before.metadata
    const own = { metadata: { name, namespace, annotations }, spec: before.spec }
    expect((await applyAsOwner(own)).status).toBe(200)
  })

  test('a dry run asks the servers and changes nothing', async () => {
    const row = await start()
    const before = (await live()).metadata.resourceVersion
    const lines = await preview(stage.engine, row, { action: 'prepare' })
    expect(lines.join('\n')).toContain('target-ingress: would change')
    expect((await live()).metadata.resourceVersion).toBe(before)
    expect((await servers.target.send('GET', BINDINGS)).body.items).toEqual([])
    await go(row, 'prepare')
    const attached = (await live()).metadata.resourceVersion
    expect(await preview(stage.engine, await now(row), { action: 'advance' })).toContainEqual(
      expect.stringContaining('weights: would change'),
    )
    expect((await live()).metadata.resourceVersion).toBe(attached)
  })

  test("another owner's field is never taken: the refusal names field and owner", async () => {
    const row = await start()
    const foreign = {
      apiVersion: 'elbv2.k8s.aws/v1beta1',
      kind: 'TargetGroupBinding',
      metadata: { name: 'web-switch', namespace: 'shop' },
      spec: { serviceRef: { name: 'other', port: 81 }, targetGroupARN: 'arn:other' },
    }
    const path = `${BINDINGS}/web-switch?fieldManager=argocd`
    expect((await servers.target.send('PATCH', path, JSON.stringify(foreign), APPLY)).status).toBe(201)
    await expect(go(row, 'prepare')).rejects.toThrow(
      /refused to apply TargetGroupBinding shop\/web-switch: .*conflict.*argocd.*\.spec\.serviceRef\.(?:name|port)/s,
    )
    const { spec } = (await servers.target.send('GET', `${BINDINGS}/web-switch`)).body
    expect(spec.serviceRef).toEqual({ name: 'other', port: 81 })
  })

  test('drift says who wrote it, by the managed fields of the server', async () => {
    const row = await start()
    await shift(row, 1)
    const text = (await live()).metadata.annotations[ACTION].replace(/"weight":\d+/, '"weight":7')
    const path = `${INGRESS}?fieldManager=argocd-controller`
    await servers.current.send(
      'PATCH',
      path,
      { metadata: { annotations: { [ACTION]: text } } },
      'application/merge-patch+json',
    )
    await expect(go(row, 'advance')).rejects.toThrow(/Drift: .*argocd-controller wrote it at \d{4}-/s)
    expect((await live()).metadata.annotations[ACTION]).toBe(text)
    await go(row, 'rollback')
    expect(stage.world.liveWeights()).toEqual([100, 0])
    const notes = (await journal(row)).filter(({ effect }) => effect === 'drift-overridden')
    expect(notes).toHaveLength(1)
  })

  test("the owner's manifest applied in the middle is met by a rollback", async () => {
    const row = await start()
    const { name, namespace, annotations } = (await live()).metadata
    const { spec } = await live()
    await shift(row, 2)
    const own = { metadata: { name, namespace, annotations }, spec }
    expect((await applyAsOwner(own)).status).toBe(409)
    expect((await applyAsOwner(own, true)).status).toBe(200)
    // If the controller was faster, the target group has been cut off and has no healthy target, so the switch rolls back at once.
    await expect(go(row, 'advance')).rejects.toThrow(/Drift|Traffic was rolled back/)
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    await seen(() => expect(stage.world.liveWeights()?.[1] ?? 0).toBe(0))
    await go(row, 'abort', stage.confirmed())
    expect((await live()).spec).toEqual(spec)
    expect(await managers()).not.toContain('weir-traffic')
  })

  test('an admission webhook that is away: the step waits for it, and so does the way back', async () => {
    const row = await start()
    await go(row, 'prepare')
    let advancing: Promise<SwitchRow> | undefined
    const told: string[] = []
    const engine = { ...stage.engine, progress: (text: string) => void told.push(text) }
    await withWebhookAway(async () => {
      advancing = act(engine, row.id, { action: 'advance', actor: 'ada' })
      advancing.catch(() => undefined)
      while (!told.some((text) => text.includes('failed calling webhook'))) await sleep(20)
    })
    expect((await advancing!).verified_at).not.toBeNull()
    expect(stage.world.liveWeights()).toEqual([90, 10])
    told.length = 0
    let back: Promise<SwitchRow> | undefined
    await withWebhookAway(async () => {
      back = act(engine, row.id, { action: 'rollback', actor: 'ada' })
      back.catch(() => undefined)
      while (!told.some((text) => text.includes('failed calling webhook'))) await sleep(20)
      const asked = performance.now()
      while (stage.world.liveWeights()?.[1] !== 0) await sleep(20)
      console.info(`rules right ${Math.round(performance.now() - asked)} ms after the webhook refused`)
      expect((await now(row)).state).toBe('rolling-back')
    })
    expect((await back!).state).toBe('rolled-back')
    await seen(() => expect(stage.world.liveWeights()).toEqual([100, 0]))
  })

  test('nobody reconciles: a rollback changes the rules itself, and they stay right when the controller is back', async () => {
    const row = await start()
    await shift(row, 2)
    stage.world.currentController.isPaused = true
    const asked = performance.now()
    expect((await go(row, 'rollback')).state).toBe('rolled-back')
    console.info(`rolled back without a controller in ${Math.round(performance.now() - asked)} ms`)
    expect(stage.world.liveWeights()?.[1]).toBe(0)
    stage.world.currentController.isPaused = false
    stage.world.currentController.reconcile()
    await seen(() => expect(stage.world.liveWeights()).toEqual([100, 0]))
  })

  test('a server that restarts in the middle of a step is waited for', async () => {
    const row = await start((plan) => {
      plan.verifyTimeoutSeconds = 300
    })
    await go(row, 'prepare')
    await servers.current.stop()
    const told: string[] = []
    const engine = { ...stage.engine, progress: (text: string) => void told.push(text) }
    const advancing = act(engine, row.id, { action: 'advance', actor: 'ada' })
    advancing.catch(() => undefined)
    while (told.length < 2) await sleep(20)
    await servers.current.start()
    expect((await advancing).verified_at).not.toBeNull()
    expect(stage.world.liveWeights()).toEqual([90, 10])
  })

  test('a rollback while the server is away moves the load balancer, and the rest when it is back', async () => {
    const row = await start((plan) => {
      plan.verifyTimeoutSeconds = 1
    })
    await shift(row, 2)
    stage.world.currentController.isPaused = true
    await servers.current.stop()
    try {
      await expect(go(row, 'rollback')).rejects.toThrow('already sends everything to cluster blue')
      expect(stage.world.liveWeights()?.[1] ?? 0).toBe(0)
    } finally {
      await servers.current.start()
    }
    stage.world.currentController.isPaused = false
    await settled()
    expect((await tick(stage.engine, row.id)).state).toBe('rolled-back')
    await seen(() => expect(stage.world.liveWeights()).toEqual([100, 0]))
  })

  test('changed by another between look and write: the write is refused and looked at again', async () => {
    const row = await start()
    await shift(row, 1)
    let isTouched = false
    const engine = {
      ...stage.engine,
      connect: async (...call: Parameters<typeof stage.engine.connect>) => {
        const outside = await stage.engine.connect(...call)
        const { patchIngress } = outside.current
        return {
          ...outside,
          current: {
            ...outside.current,
            patchIngress: async (...patch: Parameters<typeof patchIngress>) => {
              if (!isTouched) {
                isTouched = true
                const change = { metadata: { annotations: { note: 'somebody was here' } }, spec: {} }
                await servers.current.send('PATCH', INGRESS, change, 'application/merge-patch+json')
              }
              return patchIngress(...patch)
            },
          },
        }
      },
    }
    await act(engine, row.id, { action: 'advance', actor: 'ada' })
    expect(isTouched).toBe(true)
    expect(stage.world.liveWeights()).toEqual([50, 50])
    expect((await live()).metadata.annotations.note).toBe('somebody was here')
  })

  test('an Ingress that the switch made is taken away by abort, finalizers and all', async () => {
    const row = await start()
    const path = '/apis/networking.k8s.io/v1/namespaces/shop/ingresses/web'
    await servers.target.send('PATCH', path, { metadata: { finalizers: null } }, 'application/merge-patch+json')
    await servers.target.send('DELETE', path)
    await settled()
    await go(row, 'prepare')
    expect((await servers.target.send('GET', path)).body.metadata.annotations['weir-traffic/created-by']).toBe(row.id)
    await go(row, 'abort', stage.confirmed())
    expect((await servers.target.send('GET', path)).status).toBe(404)
    expect((stage.world.current as RealCluster).get('Ingress', 'shop', 'web')).toBeDefined()
  })
})
