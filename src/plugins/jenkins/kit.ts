import { createHash } from 'node:crypto'
import type { RawRecord } from '../../database/table.ts'
import { bigint, key, type RowOf, string, text, timestamp } from '../../database/table.ts'
import { epochMilliseconds, type Paging, pluginKit } from '../../plugin-kit/index.ts'
import type { Rules } from './rules.ts'

const kit = pluginKit('jenkins')
export const { table } = kit

/**
 * Returns the path of a job with this full name: `a/b` is at `job/a/job/b/`. Names of branches contain encoded characters, which
 * are encoded again.
 */
export const jobPath = (fullName: string): string =>
  fullName
    .split('/')
    .filter(Boolean)
    .map((name) => `job/${encodeURIComponent(name)}/`)
    .join('')
/** Returns the path of the job's folder, as it is stored. */
export const folderPath = (fullName: string): string => jobPath(fullName.split('/').slice(0, -1).join('/'))
/** Returns `a/b` for the build `a/b#12`. */
export const jobOf = (buildName: string): string => buildName.slice(0, buildName.lastIndexOf('#'))

export const jobs = table('jobs', 'JenkinsJob', {
  full_name: key(string()),
  scope_config_id: bigint(() => 0),
  name: string(),
  path: string(511),
  class: string(),
  color: string(),
  base: string(),
  url: text(),
  description: text(),
  primary_view: string(),
})
export type Job = RowOf<typeof jobs>

/** Raw rows have room for 255 characters. The end of a longer name is replaced by a hash. */
const LONGEST_NAME = 200
export const paramsOf = (connectionId: number, { full_name }: Pick<Job, 'full_name'>) => ({
  ConnectionId: connectionId,
  FullName: full_name.length <= LONGEST_NAME ? full_name : shortened(full_name),
})
const shortened = (name: string) =>
  `${name.slice(0, LONGEST_NAME - 65)}~${createHash('sha256').update(name).digest('hex')}`

/** The mark of everything that a scope brought: no record names the job that a user chose. */
export const markOf = (scope: Pick<Job, 'connection_id' | 'full_name'>): string =>
  JSON.stringify(paramsOf(scope.connection_id, scope))
export const entity = kit.entityMaker<Job, Rules>({ scopeColumn: '_raw_data_params', scopeKey: markOf })

/** The jobs that contain the builds of a scope: the scope itself, or the branches of a multibranch project. */
export const scopeJobs = table('scope_jobs', 'JenkinsScopeJob', {
  scope_name: key(string((_job: unknown, { scope }: RawRecord) => scope.full_name)),
  full_name: key(string('fullName')),
  name: string(),
  class: string('_class'),
  url: text(),
  last_number: bigint('lastBuild.number'),
  last_build_at: timestamp(epochMilliseconds('lastBuild.timestamp')),
})

/**
 * Jenkins returns the range of a list that `tree` contains, for which `{}` is a placeholder here. The first record of a page
 * should be the last of the page before. If it is another one, earlier records were deleted meanwhile, and the records that moved
 * up are read again.
 */
export const inRanges = ({ size, key = () => 0 }: { size: number; key?: (record: RawRecord) => number }): Paging => ({
  size,
  first: () => ({ size, offset: 0 }),
  at: (request, { size, offset = 0 }) => ({
    ...request,
    query: { ...request.query, tree: String(request.query?.tree).replace('{}', `{${offset},${offset + size}}`) },
  }),
  next({ size, offset = 0, cursor }, { records }) {
    const [first, last] = [records[0], records.at(-1)]
    const moved = cursor && first ? Number(cursor) - key(first) : 0
    // At most this many records can have moved up.
    if (moved > 0) return { size, offset: Math.max(0, offset - moved), cursor: `again from ${key(first)}` }
    if (records.length < size) return undefined
    return { size, offset: offset + size - 1, cursor: String(key(last)) }
  },
  resize: (state, size) => ({ ...state, size }),
})

/** Returns the web page of a build. Pages of branches are below that of their project. */
export const buildUrl = (scope: Job, buildName: string, number: number): string => {
  if (!scope.url) return String(number)
  const base = scope.url.endsWith('/') ? scope.url : `${scope.url}/`
  return `${base}${jobPath(jobOf(buildName).slice(scope.full_name.length))}${number}`
}
