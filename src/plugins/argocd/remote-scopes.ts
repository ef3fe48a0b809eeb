/** Lists the scopes that Argo CD offers: projects with their applications. Argo CD has neither pages nor a search. */
import type { RawRecord } from '../../database/table.ts'
import { fieldName, type RemoteEntry, type RemoteQuestion, type RemoteScopes } from '../../plugin-kit/index.ts'
import { applicationValues } from './application.ts'

/** The fields to ask for. Resources and histories are left out, because a list of hundreds of applications would be many megabytes. */
const FIELDS = ['metadata.name', 'metadata.namespace', 'metadata.labels', 'metadata.creationTimestamp', 'spec']
const LISTED = { fields: FIELDS.map((field) => `items.${field}`).join(',') }
const USUAL_NAMESPACE = 'argocd'

async function applicationsOf({ client, signal }: RemoteQuestion, project?: string): Promise<RemoteEntry[]> {
  // Argo CD gives the namespace of its installation only to those who may see the settings, and older versions do not give it at all.
  const { body: settings } = await client.send({ path: 'settings', accept: [403, 404] }, signal)
  const query = { ...LISTED, ...(project !== undefined && { projects: project }) }
  const { body } = await client.send({ path: 'applications', query }, signal)
  const items: readonly RawRecord[] = body.items ?? []
  const own = settings?.controllerNamespace || USUAL_NAMESPACE
  return items.map((each) => entryOf(each, own)).toSorted((one, other) => (one.fullName < other.fullName ? -1 : 1))
}

const projectOf = ({ parentId }: RemoteEntry): string => parentId as string

export const remoteScopes: RemoteScopes = {
  async list({ group, ...question }) {
    const found = await applicationsOf(question, group)
    if (group !== undefined) return { children: found.filter((each) => projectOf(each) === group) }
    return { children: [...new Set(found.map(projectOf))].map(groupOf) }
  },
  async search({ search, page, pageSize, ...question }) {
    const wanted = search.toLowerCase()
    const all = await applicationsOf(question)
    const found = all.filter(({ fullName }) => fullName.toLowerCase().includes(wanted))
    const children = found.slice((page - 1) * pageSize, page * pageSize).map((each) => ({ ...each, parentId: null }))
    return { children, count: found.length }
  },
}

const groupOf = (name: string): RemoteEntry => ({
  type: 'group',
  parentId: null,
  id: name,
  name,
  fullName: name,
  data: null,
})

function entryOf(application: RawRecord, own: string): RemoteEntry {
  const { name, namespace, labels } = application.metadata
  const called = namespace && namespace !== own ? `${namespace}/${name}` : name
  const { summary_images: _, created_date: created, ...values } = applicationValues(application)
  const fields = Object.entries(values).map(([column, value]) => [fieldName(column), value])
  return {
    type: 'scope',
    parentId: values.project,
    id: called,
    name: called,
    fullName: `${values.project}/${called}`,
    data: { name: called, ...Object.fromEntries(fields), createdDate: created?.toISOString() ?? null },
    topics: Object.entries(labels ?? {}).map(([label, value]) => `${label}=${value}`),
  }
}
