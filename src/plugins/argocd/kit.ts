import type { RawRecord } from '../../database/table.ts'
import { bigint, json, key, type RowOf, string, timestamp } from '../../database/table.ts'
import { type HttpRequest, parseTime, pluginKit } from '../../plugin-kit/index.ts'
import type { rules } from './rules.ts'

const kit = pluginKit('argocd')

/**
 * The scope. `name` is that of the application; one of another namespace than Argo CD's own is called `namespace/name`, so
 * that two of the same name are two.
 */
export const applications = kit.table('applications', 'ArgocdApplication', {
  name: key(string()),
  scope_config_id: bigint(() => 0),
  namespace: string(),
  project: string(),
  repo_url: string(500),
  path: string(),
  target_revision: string(),
  dest_server: string(),
  dest_name: string(),
  dest_namespace: string(),
  sync_status: string(100),
  health_status: string(100),
  created_date: timestamp(),
  summary_images: json(),
})
export type Application = RowOf<typeof applications>
type Rules = ReturnType<typeof rules>

export const table = kit.tableMaker<Application, Rules>()
export const entity = kit.entityMaker<Application, Rules>((each, scope) =>
  'application_name' in each.columns ? { application_name: scope.name } : {},
)

/** Splits what a scope is called. */
export function partsOf(called: string): { readonly name: string; readonly namespace: string | undefined } {
  const at = called.indexOf('/')
  return at < 0
    ? { name: called, namespace: undefined }
    : { name: called.slice(at + 1), namespace: called.slice(0, at) }
}

// https://argo-cd.readthedocs.io/en/stable/developer-guide/api-docs/
export function applicationRequest(called: string): HttpRequest {
  const { name, namespace } = partsOf(called)
  return {
    path: `applications/${encodeURIComponent(name)}`,
    ...(namespace !== undefined && { query: { appNamespace: namespace } }),
  }
}

/** Whether an answer is the application that was asked for, and no page or other thing. */
export const isApplication = (body: RawRecord, called: string): boolean =>
  body?.metadata?.name === partsOf(called).name && typeof body?.spec === 'object'

/** What an application is deployed from: one source, or several. */
export const sourcesOf = ({ source, sources }: RawRecord): readonly RawRecord[] =>
  Array.isArray(sources) && sources.length > 0 ? sources : source ? [source] : []

/** Charts come from registries, which have no commits. */
export const mainSource = (sources: readonly RawRecord[]): RawRecord =>
  sources.find(({ chart, repoURL }) => !chart && repoURL) ?? sources[0] ?? {}

const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/i
/** The version of a chart is none. */
export const isCommit = (revision: string): boolean => COMMIT.test(revision)

/** Where people see an application, of the address of the API. */
export function pageOf(endpoint: string, { name: called, namespace }: Application): string {
  const home = endpoint.split('/api/', 1)[0] as string
  const { name, namespace: other = namespace } = partsOf(called)
  return [home.endsWith('/') ? home.slice(0, -1) : home, 'applications', other, name].filter(Boolean).join('/')
}

/** Null for what is no time. */
export const timeOf = (text: unknown): Date | null => (typeof text === 'string' && parseTime(text)) || null
