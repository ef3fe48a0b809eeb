/** Lists the scopes that Azure DevOps offers: projects of organizations, with their boards, repositories, and repositories at other hosts. */
import type { RawRecord } from '../../database/table.ts'
import type { RemoteEntry, RemoteQuestion, RemoteScopes } from '../../plugin-kit/index.ts'
import { ENDPOINT, organizationsOf } from './connection.ts'
import { BOARD, inOrganization, inProject, NATIVE, preview, versioned } from './kit.ts'

const PER_PAGE = 100
const EXTERNAL = 'external'
/** Kinds of service connections that lead to repositories. */
const HOSTS = ['github', 'githubenterprise', 'bitbucket', 'git']

interface Page {
  /** The position in the list of organizations, from 0. */
  readonly organization: number
  readonly skip: number
}
interface Place {
  readonly organization: string
  readonly project: string
}

const placeOf = ({ organization, project }: Place) => ({ organization_id: organization, project_id: project })
const groupId = ({ organization, project }: Place) => `${organization}/${project}`
const common = ({ organization, project }: Place) => ({ organizationId: organization, projectId: project })

async function ask({ client, signal }: RemoteQuestion, request: ReturnType<typeof versioned>): Promise<RawRecord[]> {
  const { body } = await client.send(request, signal)
  return body?.value ?? []
}

const repositoryEntry = (repository: RawRecord, organization: string, parentId: string | null): RemoteEntry => {
  const place = { organization, project: String(repository.project?.name) }
  return {
    type: 'scope',
    parentId,
    id: repository.id,
    name: repository.name,
    fullName: `${groupId(place)}/${repository.name}`,
    data: {
      id: repository.id,
      type: NATIVE,
      name: repository.name,
      ...common(place),
      url: repository.webUrl,
      remoteUrl: withoutUser(repository.remoteUrl ?? ''),
      isFork: repository.isFork ?? false,
      isPrivate: repository.project?.visibility === 'private',
    },
  }
}
/** Addresses for cloning contain the name of the organization as user, which is removed here. */
function withoutUser(address: string): string {
  const url = URL.parse(address)
  if (!url) return address
  url.username = ''
  url.password = ''
  return url.href
}

function boardEntry(
  { id }: RawRecord,
  place: Place,
  { settings }: RemoteQuestion,
  parentId: string | null,
): RemoteEntry {
  const address = `${place.organization}/${encodeURIComponent(place.project)}`
  const endpoint = settings.endpoint || ENDPOINT
  const url = new URL(address, endpoint.endsWith('/') ? endpoint : `${endpoint}/`).href
  const name = `${place.project} (boards)`
  return {
    type: 'scope',
    parentId,
    id,
    name,
    fullName: `${groupId(place)} (boards)`,
    data: { id, type: BOARD, name: place.project, url, ...common(place) },
  }
}

/** Lists the projects of one organization after the other. */
async function projectGroups(question: RemoteQuestion, { organization: at, skip }: Page) {
  const organizations = await organizationsOf(question.client, question.settings, question.signal)
  const organization = organizations[at]
  if (!organization) return { children: [] }
  const query = { $top: PER_PAGE, $skip: skip }
  const projects = await ask(question, versioned(inOrganization(organization, 'projects'), query))
  const children = projects.map(({ name }): RemoteEntry => {
    const id = groupId({ organization, project: name })
    return { type: 'group', parentId: null, id, name, fullName: id, data: null }
  })
  if (projects.length >= PER_PAGE) return { children, next: { organization: at, skip: skip + PER_PAGE } }
  return { children, ...(at + 1 < organizations.length && { next: { organization: at + 1, skip: 0 } }) }
}

async function projectContent(question: RemoteQuestion, place: Place) {
  const parentId = groupId(place)
  const { client, signal } = question
  const request = versioned(inOrganization(place.organization, `projects/${encodeURIComponent(place.project)}`))
  const { body: project } = await client.send(request, signal)
  // Repos can be switched off for a project.
  const { status, body } = await client.send(
    { ...versioned(inProject(placeOf(place), 'git/repositories')), accept: [404] },
    signal,
  )
  const repositories: RawRecord[] = status === 200 ? body.value : []
  return {
    children: [
      boardEntry(project, place, question, parentId),
      ...repositories
        .filter(({ isDisabled }) => !isDisabled)
        .map((each) => repositoryEntry(each, place.organization, parentId)),
      {
        type: 'group' as const,
        parentId,
        id: `${parentId}/${EXTERNAL}`,
        name: 'Repositories on other hosts',
        fullName: `${parentId}/${EXTERNAL}`,
        data: null,
      },
    ],
  }
}

async function externalContent(question: RemoteQuestion, place: Place) {
  const parentId = `${groupId(place)}/${EXTERNAL}`
  const endpoints = await ask(question, preview(inProject(placeOf(place), 'serviceendpoint/endpoints')))
  const children: RemoteEntry[] = []
  for (const { id: serviceEndpointId, type } of endpoints) {
    if (!HOSTS.includes(type)) continue
    let continuationToken: string | undefined
    do {
      const path = inProject(placeOf(place), `sourceProviders/${type}/repositories`)
      const { body, headers } = await question.client.send(
        preview(path, { serviceEndpointId, continuationToken }),
        question.signal,
      )
      for (const each of body?.repositories ?? []) {
        children.push(externalEntry(each, { type, serviceEndpointId, place, parentId }))
      }
      continuationToken = headers['x-ms-continuationtoken'] || undefined
    } while (continuationToken)
  }
  return { children }
}

interface Host {
  readonly type: string
  readonly serviceEndpointId: string
  readonly place: Place
  readonly parentId: string
}
function externalEntry(
  { id: externalId, name, fullName, url, properties }: RawRecord,
  { type, serviceEndpointId, place, parentId }: Host,
): RemoteEntry {
  const id = `${serviceEndpointId}-${externalId}`
  const title = `${type}/${fullName ?? name}`
  return {
    type: 'scope',
    parentId,
    id,
    name: title,
    fullName: `${groupId(place)}/${title}`,
    data: {
      id,
      type,
      name: title,
      externalId,
      ...common(place),
      url: properties?.webUrl ?? properties?.manageUrl ?? url,
      remoteUrl: properties?.cloneUrl ?? url,
      isPrivate: String(properties?.isPrivate).toLowerCase() === 'true',
    },
  }
}

export const remoteScopes: RemoteScopes = {
  list({ group, page, ...question }) {
    if (!group) return projectGroups(question, (page as Page | undefined) ?? { organization: 0, skip: 0 })
    const [organization = '', project = '', kind] = group.split('/')
    const place = { organization, project }
    return kind === EXTERNAL ? externalContent(question, place) : projectContent(question, place)
  },
  /** Azure DevOps cannot search, but lists all repositories of an organization at once. */
  async search({ search, page, pageSize, ...question }) {
    const wanted = search.toLowerCase()
    const has = ({ name, project }: RawRecord) => `${project?.name ?? ''}/${name}`.toLowerCase().includes(wanted)
    const found: RemoteEntry[] = []
    for (const organization of await organizationsOf(question.client, question.settings, question.signal)) {
      const projects = await ask(question, versioned(inOrganization(organization, 'projects'), { $top: 1000 }))
      for (const each of projects.filter(has)) {
        found.push(boardEntry(each, { organization, project: each.name }, question, null))
      }
      const repositories = await ask(question, versioned(inOrganization(organization, 'git/repositories')))
      for (const each of repositories.filter((one) => !one.isDisabled && has(one))) {
        found.push(repositoryEntry(each, organization, null))
      }
    }
    const start = (page - 1) * pageSize
    return { children: found.slice(start, start + pageSize), count: found.length }
  },
}
