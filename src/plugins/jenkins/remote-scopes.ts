/** Lists the scopes that Jenkins offers: a tree of folders with jobs in them. A multibranch project is one scope with all its branches. */
import type { RawRecord } from '../../database/table.ts'
import type { RemoteEntry, RemoteScopes } from '../../plugin-kit/index.ts'
import { folderPath } from './kit.ts'

const PAGE_SIZE = 100
const JOB = '_class,name,fullName,url,color,description,primaryView[name],jobs[name]{0,1}'

/** Recognises folders and everything else that contains jobs, such as the organisations of a code host. */
const isFolder = ({ _class = '', jobs }: RawRecord) =>
  !/MultiBranchProject$/.test(_class) && (/Folder$/.test(_class) || Array.isArray(jobs))

export const remoteScopes: RemoteScopes = {
  async list({ client, signal, group = '', page }) {
    const { page: number = 1, per_page: size = PAGE_SIZE } = page ?? {}
    const folder = group
      .split('/job/')
      .filter(Boolean)
      .map((name) => `${decodeURIComponent(name)}/`)
      .join('')
    const first = (number - 1) * size
    const { jobs } = (
      await client.send(
        {
          path: `${group.replace(/^\//, '')}${group && '/'}api/json`,
          query: { tree: `jobs[${JOB}]{${first},${first + size}}` },
        },
        signal,
      )
    ).body
    const found: RawRecord[] = jobs ?? []
    // Jobs that are listed here but belong elsewhere, such as a folder within itself, would make the tree endless.
    const own = found.filter(({ name, fullName }) => fullName === undefined || fullName === `${folder}${name}`)
    const children = own.map((job) => entryOf(job, { group, fullName: `${folder}${job.name}` }))
    return { children, ...(found.length === size && { next: { page: number + 1, per_page: size } }) }
  },
}

function entryOf(job: RawRecord, { group, fullName }: { group: string; fullName: string }): RemoteEntry {
  const { name } = job
  const place = { parentId: group || null, name, fullName }
  if (isFolder(job)) return { ...place, type: 'group', id: `${group}/job/${encodeURIComponent(name)}`, data: null }
  const data = {
    fullName,
    name,
    path: folderPath(fullName),
    class: job._class ?? '',
    color: job.color ?? '',
    url: job.url ?? '',
    description: job.description ?? '',
    primaryView: job.primaryView?.name ?? '',
  }
  return { ...place, type: 'scope', id: fullName, data }
}
