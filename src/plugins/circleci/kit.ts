import type { RawRecord } from '../../database/table.ts'
import { bigint, key, type RowOf, string } from '../../database/table.ts'
import { cursor, type deliveryRules, pluginKit } from '../../plugin-kit/index.ts'

const kit = pluginKit('circleci')

export const projects = kit.table('projects', 'CircleciProject', {
  id: key(string(100)),
  scope_config_id: bigint(() => 0),
  slug: string((_project, { scope }: { scope: { slug: string } }) => scope.slug),
  name: string(),
  organization_id: string(100, () => ''), // never filled by DevLake, although the API sends it
})
type Project = RowOf<typeof projects>
type Rules = ReturnType<typeof deliveryRules>
export const table = kit.tableMaker<Project, Rules>()

export const entity = kit.entityMaker<Project, Rules>({ scopeColumn: 'project_slug', scopeKey: 'slug' })

/** Records contain the short form of the slug (gh/…), and scopes the form that the user chose. */
export const slug = () => string((_record, { scope }: { scope: Project }) => scope.slug)

// CircleCI's page size is fixed at 20.
export const pageToken = cursor({ param: 'page-token', next: (body) => body.next_page_token, size: 20 })
export const items = (body: RawRecord) => body.items

// https://circleci.com/docs/api/v2/index.html#operation/getWorkflowById
export const RESULT = { SUCCESS: ['success'], FAILURE: ['failed', 'failing', 'error'] }
export const STATUS = { DONE: ['canceled', 'failed', 'failing', 'success', 'not_run', 'error'] }

/** Statuses that may still change. */
export const UNFINISHED = ['running', 'not_running', 'queued', 'on_hold', 'failing']

/** Returns the time in seconds, or 0 when an end is missing or the second moment is before the first. */
export const secondsFrom = (start: string, end: string): number =>
  Math.max(0, (Date.parse(end) - Date.parse(start)) / 1000) || 0
