/**
 * The syncs in the answer about an application. Its history has those that succeeded, and its latest operation may be running or
 * have failed. Argo CD forgets them: it keeps about ten entries of the history and one operation.
 */
import type { RawRecord } from '../../database/table.ts'
import { isCommit, sourcesOf, timeOf } from './kit.ts'

/** Phases of an operation: https://argo-cd.readthedocs.io/en/stable/operator-manual/notifications/functions/ */
const UNFINISHED = ['Running', 'Terminating']
/** The finish of an operation comes a little later than the time in the history at which it deployed. */
const SLACK = 2000
const RUNNING = 'running'

const isEntry = (record: RawRecord): boolean => 'deployedAt' in record || 'id' in record
/** While an operation is retried, it has the time at which the last try ended. */
const isOver = ({ phase, finishedAt }: RawRecord): boolean => !UNFINISHED.includes(phase) && Boolean(finishedAt)

/** Phases of operations that are not in the history. */
const UNTOLD = [...UNFINISHED, 'Failed', 'Error']

const isIn = (operation: RawRecord, entry: RawRecord): boolean => {
  const [deployed, started, finished] = [entry.deployedAt, operation.startedAt, operation.finishedAt].map(timeOf)
  return Boolean(deployed && started && deployed >= started && (!finished || +deployed <= +finished + SLACK))
}

/** Returns the operation if it is not in the history. A dry run is not a deployment. */
function operationBeside({ operationState }: RawRecord, history: readonly RawRecord[]): readonly RawRecord[] {
  if (!operationState?.startedAt || operationState.operation?.sync?.dryRun) return []
  const isTold = !UNTOLD.includes(operationState.phase) && history.some((entry) => isIn(operationState, entry))
  return isTold ? [] : [operationState]
}

/** The running images belong to the latest deployment. They are kept as a separate record, because an entry of the history has no images. */
function imagesOf({ summary, operationState }: RawRecord, history: readonly RawRecord[]): readonly RawRecord[] {
  const images: unknown = summary?.images
  const latest = history.toSorted((one, other) => +(timeOf(one.deployedAt) ?? 0) - +(timeOf(other.deployedAt) ?? 0))
  const last = latest.at(-1)
  if (!last || !Array.isArray(images) || images.length === 0 || UNFINISHED.includes(operationState?.phase)) return []
  const revisions = new Set(deployedSources(last).map(({ revision }) => revision))
  return [...revisions].map((revision) => ({ revision, images }))
}

/** The last of several records of the same second counts, so the history comes last. */
export function syncsOf({ metadata, status }: RawRecord): readonly RawRecord[] {
  if (!metadata?.name) throw new Error('there is no application in it')
  const history: readonly RawRecord[] = Array.isArray(status?.history) ? status.history : []
  const known = status ?? {}
  return [...imagesOf(known, history), ...operationBeside(known, history), ...history]
}

export const isImages = (record: RawRecord): boolean => Array.isArray(record?.images) && !isEntry(record)

/** Returns DevLake's number of a sync: the second at which it was deployed, or at which an operation began. */
export function numberOf(record: RawRecord): number | null {
  const time = timeOf(isEntry(record) ? record.deployedAt : record.startedAt)
  return time && Math.floor(time.getTime() / 1000)
}

export function syncKey(record: RawRecord): string {
  if (isImages(record)) return `images ${record.revision}`
  const number = numberOf(record)
  if (number === null) return ''
  if (isEntry(record)) return String(number)
  // Only one operation runs at a time. When it is over, its place is empty or taken by the next one.
  return isOver(record) ? `operation ${number}` : RUNNING
}
/** Syncs that are over are kept, whether or not Argo CD still lists them. */
export const forgets = (key: string): boolean => key !== '' && key !== RUNNING

interface SyncValues {
  readonly phase: string
  readonly started: unknown
  readonly finished: unknown
  readonly initiatedBy: RawRecord
  readonly message?: string
  readonly resources?: readonly RawRecord[]
}

/** Brings entries of the history and operations into the same form. */
export function syncValues(record: RawRecord): SyncValues {
  if (isEntry(record)) {
    const { deployedAt, deployStartedAt, initiatedBy } = record
    return { phase: 'Succeeded', started: deployStartedAt ?? deployedAt, finished: deployedAt, initiatedBy }
  }
  const { phase = '', startedAt, finishedAt, message, syncResult, operation } = record
  return {
    phase,
    message,
    initiatedBy: operation?.initiatedBy,
    resources: resourcesIn(syncResult),
    started: startedAt,
    finished: isOver(record) ? finishedAt : null,
  }
}
const resourcesIn = (syncResult: RawRecord): readonly RawRecord[] =>
  Array.isArray(syncResult?.resources) ? syncResult.resources : []

interface DeployedSource {
  readonly repo_url: string
  readonly revision: string
  readonly path: string
  readonly target_revision: string
}

/** Returns every source with its deployed revision. The lists of sources and revisions have the same order. */
export function deployedSources(record: RawRecord): readonly DeployedSource[] {
  const told: RawRecord = isEntry(record) ? record : (record.syncResult ?? {})
  const wanted: RawRecord = record.operation?.sync ?? {}
  const sources = sourcesOf(told).length > 0 ? sourcesOf(told) : sourcesOf(wanted)
  const revisions: readonly unknown[] =
    told.revisions?.length > 0 ? told.revisions : [told.revision ?? wanted.revision ?? '']
  return revisions.flatMap((revision, index) => {
    const source = sources[index] ?? {}
    if (!revision) return []
    const { repoURL = '', path = source.chart ?? '', targetRevision = '' } = source
    return [{ repo_url: repoURL, revision: String(revision), path, target_revision: targetRevision }]
  })
}

/** Returns the revision that DevLake stores: the first one that is a commit. */
export function mainRevision(record: RawRecord): DeployedSource | undefined {
  const all = deployedSources(record)
  return all.find(({ revision }) => isCommit(revision)) ?? all[0]
}

/** Kinds of resources that people look for first, in this order. */
const KINDS = ['Rollout', 'Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'CronJob']
export function kindOf(resources: readonly RawRecord[] = []): string {
  const found = resources.map(({ kind }) => kind).filter(Boolean)
  return KINDS.find((kind) => found.includes(kind)) ?? found[0] ?? ''
}

export const imagesIn = (resources: readonly RawRecord[] = []): readonly string[] | null => {
  const images = [...new Set(resources.flatMap((each) => each.images ?? []))]
  return images.length > 0 ? images : null
}
