import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { RetryableError, UserError } from '../../src/errors.ts'
import { GitError } from '../../src/git/git.ts'
import { helmForm } from '../../traffic/gitops/helm-form.ts'
import { builtIngress } from '../../traffic/gitops/kustomization.ts'
import { kustomizeForm } from '../../traffic/gitops/kustomize-form.ts'
import { manifestForm } from '../../traffic/gitops/manifest-form.ts'
import { explainFailure, PushRefused } from '../../traffic/gitops/push-failure.ts'
import { openRepository, type Tree } from '../../traffic/gitops/repository.ts'
import { type Compute, openTrack } from '../../traffic/gitops/track.ts'
import { actionKey, actionOfStep } from '../../traffic/model/action.ts'
import { applyEdit, attachEdit, detachEdit, ingressOfSide } from '../../traffic/model/ingress.ts'
import { type GitRemote, kustomized, startGitRemote } from './support/git-remote.ts'
import { shopPlan } from './support/shop.ts'

const PLAN = shopPlan()
const ARN = PLAN.targetGroup.arn!
const LIVE = ingressOfSide(PLAN.current)
const KEY = actionKey('web-switch')
const settings = {
  form: 'manifest' as const,
  path: 'blue',
  key: 'trafficSwitch',
  name: 'shop-web',
  where: 'branch main',
}
const treeOf = (files: Record<string, string>): Tree => ({
  commit: '',
  read: async (path) => files[path],
  list: async (folder) => Object.keys(files).filter((path) => path.startsWith(`${folder}/`)),
})
const attach = (step = 0) => attachEdit(LIVE, PLAN, actionOfStep(PLAN, step, ARN))

const MANIFEST = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web # of the shop team
  namespace: shop
spec:
  rules:
  - host: shop.example.com
    http:
      paths:
      # The only one.
      - { path: /, pathType: Prefix, backend: { service: { name: web, port: { number: 80 } } } }
`

describe('plain manifests', () => {
  test('comments, order and other documents stay; the way back leaves the file as it was', async () => {
    const other = '---\n# other\nkind:   ConfigMap\nmetadata: {name: x}\n'
    const form = manifestForm(settings)
    const before = treeOf({
      'blue/a.yaml': 'kind: Service\nmetadata: { name: web }\n',
      'blue/web.yaml': MANIFEST + other,
    })
    const [[path, text]] = [...(await form.change(before, LIVE, attach(), false))] as [[string, string]]
    expect(path).toBe('blue/web.yaml')
    expect(text.endsWith(other)).toBe(true)
    expect(text).toContain('  name: web # of the shop team\n')
    expect(text).toContain('name: web-switch, port: { name: use-annotation }')
    const after = treeOf({ [path]: text })
    // A file that already has the change is not written again.
    expect((await form.change(after, LIVE, attach(), false)).size).toBe(0)
    const attached = applyEdit(LIVE, attach())
    const back = await form.change(after, attached, detachEdit(attached, PLAN), false)
    expect(back.get(path)).toBe(MANIFEST + other)
  })

  test('a neighbour that is no YAML keeps nobody from the Ingress, unless it may be the Ingress', async () => {
    const broken = { 'blue/a.yaml': 'kind: Ingress\nmetadata: { name: web, namespace: {{ .Values.x }\n' }
    const form = manifestForm(settings)
    const changes = await form.change(treeOf({ ...broken, 'blue/web.yaml': MANIFEST }), LIVE, attach(), false)
    expect([...changes.keys()]).toEqual(['blue/web.yaml'])
    await expect(form.change(treeOf(broken), LIVE, attach(), false)).rejects.toThrow(
      'blue/a.yaml of branch main is not',
    )
  })

  test('a binding gets a file of its own, or its place in one that is there', async () => {
    const binding = {
      apiVersion: 'elbv2.k8s.aws/v1beta1',
      kind: 'TargetGroupBinding',
      metadata: { name: 'b', namespace: 'shop' },
      spec: {},
    }
    const form = manifestForm(settings)
    const made = await form.put(treeOf({ 'blue/web.yaml': MANIFEST }), binding)
    expect([...made.keys()]).toEqual(['blue/weir-b.yaml'])
    const files = { 'blue/web.yaml': `${MANIFEST}---\n${made.get('blue/weir-b.yaml')!}` }
    expect((await form.put(treeOf(files), binding)).size).toBe(0)
    expect(await form.remove(treeOf(files), { kind: 'TargetGroupBinding', name: 'b' })).toEqual(
      new Map([['blue/web.yaml', MANIFEST]]),
    )
    expect(
      await form.remove(treeOf({ 'blue/weir-b.yaml': made.get('blue/weir-b.yaml')! }), {
        kind: 'TargetGroupBinding',
        name: 'b',
      }),
    ).toEqual(new Map([['blue/weir-b.yaml', null]]))
  })
})

describe('a kustomization', () => {
  const form = kustomizeForm({ ...settings, form: 'kustomize', path: 'overlay' })
  const files = {
    'base/kustomization.yaml': 'resources: [web.yaml]\n',
    'base/web.yaml': MANIFEST,
    'overlay/kustomization.yaml': 'resources: [../base]\npatches:\n- path: own.yaml\n',
    'overlay/own.yaml': 'kind: Ingress\nmetadata:\n  name: web\n  annotations: { team: shop }\n',
  }
  test('gets one patch beside its own, which another program applies to the same end', async () => {
    const changes = await form.change(treeOf(files), LIVE, attach(1), false)
    const after = { ...files, ...(Object.fromEntries(changes) as Record<string, string>) }
    const wanted = { kind: 'Ingress', name: 'web', namespace: 'shop' }
    const built = (await builtIngress(treeOf(after), 'overlay', wanted))!
    expect(built.metadata.annotations).toMatchObject({
      team: 'shop',
      [KEY]: JSON.stringify(actionOfStep(PLAN, 1, ARN)),
    })
    expect(built.spec.rules![0]!.http!.paths[0]!.backend.service!.name).toBe('web-switch')
    const { patches } = parse(after['overlay/kustomization.yaml'])
    expect(patches).toEqual([
      { path: 'own.yaml' },
      {
        path: 'weir-shop-web-web.yaml',
        target: { group: 'networking.k8s.io', version: 'v1', kind: 'Ingress', name: 'web' },
      },
    ])
    // Apply only the second patch, the way the fake API server reads a JSON patch.
    const alone = {
      ...after,
      'overlay/kustomization.yaml': `resources: [../base]\npatches: [${JSON.stringify(patches[1])}]\n`,
    }
    const files2 = new Map(
      Object.entries({ ...alone, 'base/web.yaml': MANIFEST.replace('spec:', '  annotations: { team: shop }\nspec:') }),
    )
    expect(kustomized('overlay')(files2)[0].spec).toEqual(built.spec)
    expect((await form.change(treeOf(after), LIVE, attach(1), false)).size).toBe(0)
  })

  test('whose base was changed fails to build instead of patching the wrong path', async () => {
    const changes = await form.change(treeOf(files), LIVE, attach(1), false)
    const moved = {
      ...files,
      ...Object.fromEntries(changes),
      'base/web.yaml': MANIFEST.replace('name: web, port', 'name: other, port'),
    }
    await expect(form.change(treeOf(moved as never), LIVE, attach(2), false)).rejects.toThrow(
      /cannot be told: patch weir-shop-web-web.yaml does not fit/,
    )
  })

  test.each([
    ['namePrefix: x-\n', 'it changes names'],
    ['components: [c]\n', 'it uses components'],
    ['patches:\n- { patch: "[]", target: { kind: Ingress, labelSelector: a=b } }\n', 'selects by labels'],
    ['patches:\n- { patch: "[]", target: { kind: Ingress, name: "we.*" } }\n', 'names like we.*'],
    ['patches:\n- path: gone.yaml\n', 'there is no patch gone.yaml'],
  ])('that does more than is understood is refused: %s', async (more, reason) => {
    const tree = treeOf({
      'overlay/kustomization.yaml': `resources: [web.yaml, "https://example.com/x?ref=1"]\n${more}`,
      'overlay/web.yaml': MANIFEST,
    })
    await expect(form.change(tree, LIVE, attach(), false)).rejects.toThrow(reason)
  })

  test('without the Ingress, or no kustomization at all', async () => {
    await expect(
      form.change(treeOf({ 'overlay/kustomization.yaml': 'resources: []\n' }), LIVE, attach(), false),
    ).rejects.toThrow('There is no Ingress shop/web in overlay')
    await expect(form.change(treeOf({}), LIVE, attach(), false)).rejects.toThrow('There is no kustomization in overlay')
  })
})

describe('values of a chart', () => {
  const form = helmForm({ ...settings, form: 'helm', path: 'values.yaml', key: 'web.trafficSwitch' })
  test('say all that a template needs, and keep what the binding has', async () => {
    const changes = await form.change(
      treeOf({ 'values.yaml': '# mine\nweb: { replicas: 2 }\n' }),
      LIVE,
      attach(1),
      false,
    )
    const text = changes.get('values.yaml')!
    expect(text).toContain('# mine')
    expect(parse(text)).toMatchObject({
      web: {
        replicas: 2,
        trafficSwitch: {
          switch: 'shop-web',
          attached: true,
          actionName: 'web-switch',
          weights: { current: 90, target: 10 },
        },
      },
    })
    const tree = treeOf({ 'values.yaml': text })
    expect((await form.change(tree, LIVE, attach(1), false)).size).toBe(0)
    const attached = applyEdit(LIVE, attach(0))
    // The cluster still has step 0, the values file has step 1, and step 2 is wanted.
    await expect(
      form.change(tree, attached, attachEdit(attached, PLAN, actionOfStep(PLAN, 2, ARN)), false),
    ).rejects.toThrow('was edited by hand')
    await expect(form.change(treeOf({}), LIVE, attach(), false)).rejects.toThrow('There is no file values.yaml')
  })
})

test.each([
  [RetryableError, "fatal: unable to access 'https://git.example.com/x/': Could not resolve host: git.example.com"],
  [RetryableError, 'ssh: connect to host git.example.com port 22: No route to host\nfatal: Could not read from remote'],
  [RetryableError, 'kex_exchange_identification: Connection closed by remote host'],
  [RetryableError, 'fatal: the remote end hung up unexpectedly'],
  [RetryableError, '! [rejected] main -> main (non-fast-forward)'],
  [PushRefused, '! [remote rejected] main -> main (protected branch hook declined)'],
  [UserError, "fatal: Authentication failed for 'https://git.example.com/x/'"],
])('what git says about a push means %o: %s', (kind, said) => {
  const found = explainFailure(new GitError('push', 128, said), 'push to branch main', 'https://git.example.com/x')
  expect(found).toBeInstanceOf(kind)
})

test('what git says about an address that its settings made is told without the login', () => {
  const said = "fatal: unable to access 'https://ada:s3cret@git.example.com/x/': The requested URL returned error: 403"
  for (const what of ['push to branch main', 'read branch main'])
    expect(String(explainFailure(new GitError('push', 128, said), what, 'https://git.example.com/x'))).not.toContain(
      's3cret',
    )
})

describe('a branch', () => {
  let remote: GitRemote
  const { TMPDIR } = process.env
  afterEach(() => {
    vi.useRealTimers()
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
    remote.close()
  })
  const write =
    (text: string): Compute =>
    async (tree) =>
      (await tree.read('a.txt')) === text ? new Map() : new Map([['a.txt', text]])
  const trackOf = () => {
    process.env.GIT_ALLOW_LOCAL = 'true'
    return openTrack({
      merge: 'push',
      mergeTimeoutSeconds: 9,
      syncTimeoutSeconds: 9,
      rollbackMerge: 'skip',
      rollbackMergeSeconds: 9,
      author: { name: 'Weir', email: 'weir@example.com' },
      repository: openRepository(remote.url),
      branch: 'main',
      proposal: 'weir/x',
      name: 'x',
    })
  }

  test('that moves between reading and pushing is read again; nothing of anybody is lost', async () => {
    remote = startGitRemote({ 'a.txt': 'one' })
    const track = trackOf()
    let isFirst = true
    const compute: Compute = async (tree) => {
      if (isFirst) remote.commit('main', { 'b.txt': 'theirs' }, 'meanwhile')
      isFirst = false
      return write('two')(tree)
    }
    await expect(track.ensure({ compute, title: 'ours' })).rejects.toThrow(RetryableError)
    expect(remote.subjects('main')).toEqual(['meanwhile', 'as it was'])
    await track.ensure({ compute, title: 'ours' })
    await track.ensure({ compute, title: 'ours' })
    expect(remote.subjects('main')).toEqual(['ours', 'meanwhile', 'as it was'])
    expect([...remote.files('main')]).toEqual([
      ['a.txt', 'two'],
      ['b.txt', 'theirs'],
    ])
    remote.commit('main', { 'a.txt': 'one' }, 'revert')
    await expect(track.waiting()).rejects.toThrow('was taken out of branch main')
  })

  test('that is not there, and a repository of this machine that is not allowed', async () => {
    remote = startGitRemote({ 'a.txt': 'one' })
    const track = trackOf()
    remote.git('update-ref', 'refs/heads/other', 'main')
    remote.git('update-ref', '-d', 'refs/heads/main')
    await expect(track.ensure({ compute: write('two'), title: 'x' })).rejects.toThrow('There is no branch main')
    process.env.GIT_ALLOW_LOCAL = 'false'
    await expect(track.ensure({ compute: write('two'), title: 'x' })).rejects.toThrow('set GIT_ALLOW_LOCAL=true')
  })

  test('is read again when the copy on disk is gone, or was tidied up while it rested', async () => {
    remote = startGitRemote({ 'a.txt': 'one' })
    const own = mkdtempSync(join(tmpdir(), 'weir-test-'))
    process.env.TMPDIR = own
    const track = trackOf()
    const look = () => track.look((tree) => tree.read('a.txt'))
    expect(await look()).toBe('one')
    for (const name of readdirSync(own)) rmSync(join(own, name), { recursive: true })
    expect(await look()).toBe('one')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 3_600_000 })
    for (const name of readdirSync(own)) rmSync(join(own, name, 'objects'), { recursive: true })
    expect(await look()).toBe('one')
    expect(readdirSync(own)).toHaveLength(1)
    rmSync(own, { recursive: true })
  })

  test('a dry run writes nothing', async () => {
    remote = startGitRemote({ 'a.txt': 'one' })
    await trackOf().ensure({ compute: write('two'), title: 'x', dryRun: true })
    expect(remote.subjects('main')).toEqual(['as it was'])
  })
})
