/** The data of an Argo CD: applications of projects with their sync history and latest operation, and clusters. */
import { createHash } from 'node:crypto'

type Fields = Record<string, any>

export const OWN_NAMESPACE = 'argocd'
export const shaOf = (text: string): string => createHash('sha1').update(text).digest('hex')

export interface FakeApplication {
  metadata: { name: string; namespace: string; creationTimestamp: string; labels: Record<string, string> }
  spec: Fields
  status: Fields & { history: Fields[]; operationState?: Fields }
}
export interface NewApplication {
  readonly namespace?: string
  readonly project?: string
  readonly labels?: Record<string, string>
  readonly destination?: Fields
  /** Several sources instead of one. */
  readonly sources?: readonly Fields[]
  readonly repoURL?: string
}
export interface SyncOptions {
  readonly revisions?: readonly string[]
  readonly phase?: string
  readonly username?: string
}

export type World = ReturnType<typeof createWorld>

export function createWorld() {
  const world = {
    now: () => new Date(),
    applications: [] as FakeApplication[],
    clusters: [{ server: 'https://kubernetes.default.svc', name: 'in-cluster' }] as Fields[],
    /** `revisionHistoryLimit` of every application. */
    historyLimit: 10,
  }
  let last = 0
  /** Times have whole seconds, as in Kubernetes. */
  const time = () => `${world.now().toISOString().slice(0, 19)}Z`
  const sourcesOf = ({ spec }: FakeApplication): Fields[] => spec.sources ?? [spec.source]
  const revisionsOf = (application: FakeApplication, revisions?: readonly string[]) =>
    revisions ?? sourcesOf(application).map((_, index) => shaOf(`${++last} ${index}`))
  const told = (application: FakeApplication, revisions: readonly string[]) =>
    application.spec.sources
      ? { revisions, sources: application.spec.sources }
      : { revision: revisions[0], source: application.spec.source }

  function remember(application: FakeApplication, startedAt: string, revisions: readonly string[], by: Fields) {
    const { history } = application.status
    const id = (history.at(-1)?.id ?? -1) + 1
    history.push({
      ...told(application, revisions),
      id,
      deployStartedAt: startedAt,
      deployedAt: time(),
      initiatedBy: by,
    })
    application.status.history = history.slice(Math.max(0, history.length - world.historyLimit))
    if (world.historyLimit === 0) application.status.history = []
    application.status.sync = { status: 'Synced', ...told(application, revisions) }
    application.status.summary = { images: [`registry.example.com/${application.metadata.name}:${last}`] }
  }

  return Object.assign(world, {
    add(name: string, options: NewApplication = {}): FakeApplication {
      const { namespace = OWN_NAMESPACE, project = 'default', labels = {}, sources } = options
      const { repoURL = `https://git.example.com/acme/${name}`, destination } = options
      const source = { repoURL, path: 'deploy', targetRevision: 'main' }
      const application: FakeApplication = {
        metadata: { name, namespace, creationTimestamp: time(), labels },
        spec: {
          project,
          destination: destination ?? { server: 'https://kubernetes.default.svc', namespace: name },
          ...(sources ? { sources } : { source }),
        },
        status: { history: [], health: { status: 'Healthy' }, sync: { status: 'OutOfSync' }, summary: {} },
      }
      world.applications.push(application)
      return application
    },
    remove(application: FakeApplication) {
      world.applications.splice(world.applications.indexOf(application), 1)
    },
    /** Begins a sync. The operation before it is forgotten. */
    begin(application: FakeApplication, { revisions, username }: SyncOptions = {}): void {
      const chosen = revisionsOf(application, revisions)
      application.status.operationState = {
        phase: 'Running',
        message: 'waiting for healthy state',
        startedAt: time(),
        operation: { sync: told(application, chosen), initiatedBy: username ? { username } : { automated: true } },
        syncResult: {
          ...told(application, chosen),
          resources: [
            { kind: 'Service', name: application.metadata.name },
            { kind: 'Deployment', name: application.metadata.name },
          ],
        },
      }
    },
    /** Ends the operation. A failed one is retried as the same operation and keeps the time at which it began. */
    finish(application: FakeApplication, phase = 'Succeeded'): void {
      const { operationState } = application.status
      if (!operationState) return
      Object.assign(operationState, { phase, finishedAt: time(), message: `successfully synced: ${phase}` })
      if (phase !== 'Succeeded') return
      const { syncResult, operation, startedAt } = operationState
      remember(application, startedAt, syncResult.revisions ?? [syncResult.revision], operation.initiatedBy)
    },
    retry(application: FakeApplication): void {
      Object.assign(application.status.operationState ?? {}, { phase: 'Running', message: 'retrying' })
    },
    /** Begins and ends a sync. */
    sync(application: FakeApplication, { phase, ...options }: SyncOptions = {}): void {
      this.begin(application, options)
      this.finish(application, phase)
    },
  })
}
