import type { RawRecord } from '../../database/table.ts'
import { bigint, json, key, type RowOf, string, timestamp } from '../../database/table.ts'
import { type HttpRequest, parseTime, pluginKit } from '../../plugin-kit/index.ts'
import type { rules } from './rules.ts'

const kit = pluginKit('argocd')

/**
 * The scope. `name` is the name of the application. In another namespace than Argo CD's own it is `namespace/name`, so that two
 * applications of the same name stay apart.
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
type Application = RowOf<typeof applications>
type Rules = ReturnType<typeof rules>

export const table = kit.tableMaker<Application, Rules>()
export const entity = kit.entityMaker<Application, Rules>({ scopeColumn: 'application_name', scopeKey: 'name' })

/** Splits the name of a scope into namespace and name. */
function partsOf(called: string): { readonly name: string; readonly namespace: string | undefined } {
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

/** Tells whether an answer is the requested application, and not a web page or something else. */
export const isApplication = (body: RawRecord, called: string): boolean =>
  body?.metadata?.name === partsOf(called).name && typeof body?.spec === 'object'

/** Returns the sources that an application is deployed from: one or several. */
export const sourcesOf = ({ source, sources }: RawRecord): readonly RawRecord[] =>
  Array.isArray(sources) && sources.length > 0 ? sources : source ? [source] : []

/** Prefers sources that are not charts, because charts come from registries, which have no commits. */
export const mainSource = (sources: readonly RawRecord[]): RawRecord =>
  sources.find(({ chart, repoURL }) => !chart && repoURL) ?? sources[0] ?? {}

const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/i
/** The version of a chart is not a commit. */
export const isCommit = (revision: string): boolean => COMMIT.test(revision)

/** Returns the web page of an application, built from the address of the API. */
export function pageOf(endpoint: string, { name: called, namespace }: Application): string {
  const home = endpoint.split('/api/', 1)[0] as string
  const { name, namespace: other = namespace } = partsOf(called)
  return [home.endsWith('/') ? home.slice(0, -1) : home, 'applications', other, name].filter(Boolean).join('/')
}

/** Returns null for anything that is not a time. */
export const timeOf = (text: unknown): Date | null => (typeof text === 'string' && parseTime(text)) || null
