/**
 * The part of Argo CD's API that the plugin uses, over real HTTP, from its OpenAPI description
 * (https://cd.apps.argoproj.io/swagger-ui). Lists have no pages and leave out what the account may not see. A request for a
 * missing object by its name is forbidden, so that nobody learns which objects exist.
 */
import { type Answer, startFakeSource } from '../support/fake-source.ts'
import { createWorld, type FakeApplication, OWN_NAMESPACE, type World } from './world.ts'

export const TOKEN = 'argocd-token'
const PREFIX = '/api/v1/'
const USER = 'weir'
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  applications: ['projects', 'selector', 'fields', 'appNamespace', 'name', 'refresh', 'repo', 'resourceVersion'],
  application: ['appNamespace', 'project', 'refresh', 'resourceVersion'],
  clusters: ['server', 'name', 'id.type', 'id.value'],
}
const DENIED: Answer = [403, { error: 'permission denied', code: 7, message: 'permission denied' }]

export type FakeArgocd = Awaited<ReturnType<typeof startFakeArgocd>>

export async function startFakeArgocd() {
  const world = createWorld()
  const settings = {
    /** The projects whose applications the account may see. Undefined means all. */
    projects: undefined as readonly string[] | undefined,
    seesClusters: true,
    /** Older versions do not show the namespace. */
    tellsNamespace: true,
  }
  const isSeen = ({ spec }: FakeApplication) => settings.projects?.includes(spec.project) ?? true

  function applications(query: URLSearchParams): Answer {
    const projects = query.getAll('projects')
    const found = world.applications.filter(
      (each) => isSeen(each) && (projects.length === 0 || projects.includes(each.spec.project)),
    )
    const fields = query.get('fields')
    const items = fields ? found.map((each) => chosen(each, fields.split(','))) : found
    return [200, { metadata: { resourceVersion: '1' }, items: items.length > 0 ? items : null }]
  }
  function application(name: string, query: URLSearchParams): Answer {
    const namespace = query.get('appNamespace') ?? OWN_NAMESPACE
    const found = world.applications.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace)
    return found && isSeen(found) ? [200, found] : DENIED
  }
  function clusters(query: URLSearchParams): Answer {
    const server = query.get('server')
    const found = world.clusters.filter((each) => settings.seesClusters && (!server || each.server === server))
    return [200, { metadata: {}, items: found.length > 0 ? found : null }]
  }

  function answerTo({ pathname, searchParams }: URL): Answer {
    // Any other address answers with the page of the web client.
    if (!pathname.startsWith(PREFIX)) return [200, '<!doctype html><html><head><title>Argo CD</title></head></html>']
    const [what = '', name] = pathname.slice(PREFIX.length).split('/').map(decodeURIComponent)
    const allowed = PARAMETERS[what === 'applications' && name ? 'application' : what] ?? []
    const unknown = [...searchParams.keys()].find((key) => !allowed.includes(key))
    if (unknown) return [400, { error: `unknown parameter ${unknown}`, code: 3 }]
    if (what === 'settings') return [200, settings.tellsNamespace ? { controllerNamespace: OWN_NAMESPACE } : {}]
    if (what === 'session' && name === 'userinfo') return [200, { loggedIn: true, username: USER, iss: 'argocd' }]
    if (what === 'clusters') return clusters(searchParams)
    if (what === 'applications') return name ? application(name, searchParams) : applications(searchParams)
    return [404, { error: 'Not Found', code: 5 }]
  }

  const source = await startFakeSource({ Authorization: `Bearer ${TOKEN}` }, answerTo)
  return Object.assign(source, {
    world: world as World,
    settings,
    endpoint: new URL(`.${PREFIX}`, source.url).href,
    /** Sets one clock for events and for the dates of answers. */
    setNow(now: () => Date) {
      Object.assign(source, { now })
      world.now = now
    },
  })
}

/** Returns the parts of an application that `fields` names, such as items.metadata.name. */
function chosen(application: FakeApplication, fields: readonly string[]): object {
  const part: Record<string, any> = {}
  for (const field of fields) {
    const [, ...path] = field.split('.')
    let from: any = application
    let to = part
    for (const [index, key] of path.entries()) {
      from = from?.[key]
      if (from === undefined) break
      if (index === path.length - 1) to[key] = from
      else to = to[key] ??= {}
    }
  }
  return part
}
