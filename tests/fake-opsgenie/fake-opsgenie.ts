/**
 * The part of Opsgenie's API that the plugin uses, over real HTTP: https://docs.opsgenie.com/docs/api-overview. A page has at
 * most 100 records. `paging.next` is there until the last page, and a list ends after `most` records. Incidents are found by
 * the service that they impact, and by their time of creation.
 */
import { type Answer, type FakeRoute, startFakeApi } from '../support/fake-api.ts'

export const KEY = 'opsgenie-key'
const LARGEST_PAGE = 100

export interface FakeIncident {
  readonly id: string
  readonly tinyId: string
  message: string
  description: string
  status: string
  priority: string
  readonly createdAt: string
  updatedAt: string
  ownerTeam: string
  responders: { type: string; id: string }[]
  impactedServices: string[]
  impactStartDate: string
  impactEndDate?: string
  links: { web: string; api: string }
}
const linksOf = (kind: string, id: string) => ({
  web: `https://acme.app.opsgenie.com/${kind}/${id}`,
  api: `https://api.opsgenie.com/v1/${kind}s/${id}`,
})
export const USERS = ['ada', 'bo', 'cleo'].map((name) => ({
  id: `user-${name}`,
  username: `${name}@example.org`,
  fullName: name.toUpperCase(),
}))
export const TEAMS = ['web', 'data'].map((name) => ({ id: `team-${name}`, name, description: '' }))

function createWorld() {
  const world = {
    now: () => new Date(),
    services: [] as { id: string; name: string; teamId: string; links: object }[],
    incidents: [] as FakeIncident[],
    users: structuredClone(USERS),
    teams: structuredClone(TEAMS),
  }
  let last = 0
  const time = () => world.now().toISOString()
  const change = (incident: FakeIncident, values: Partial<FakeIncident>) =>
    Object.assign(incident, values, { updatedAt: time() })
  return Object.assign(world, {
    change,
    addService: (id: string, name: string) =>
      void world.services.push({ id, name, teamId: TEAMS[0]?.id ?? '', links: linksOf('service', id) }),
    open(service: string, values: Partial<FakeIncident> = {}): FakeIncident {
      const id = `incident-${++last}`
      const at = time()
      const made: FakeIncident = {
        id,
        tinyId: String(last),
        message: `Incident ${last}`,
        description: 'It burns',
        status: 'open',
        priority: 'P3',
        createdAt: at,
        updatedAt: at,
        ownerTeam: '',
        impactStartDate: at,
        responders: [{ type: 'team', id: 'team-web' }],
        impactedServices: [service],
        links: linksOf('incident', id),
        ...values,
      }
      world.incidents.push(made)
      return made
    },
    resolve: (incident: FakeIncident) => change(incident, { status: 'resolved', impactEndDate: time() }),
    close: (incident: FakeIncident) => change(incident, { status: 'closed' }),
    remove(incident: FakeIncident) {
      world.incidents.splice(world.incidents.indexOf(incident), 1)
    },
  })
}
export type World = ReturnType<typeof createWorld>

function pageOf(query: URLSearchParams, all: readonly unknown[], most: number): Answer {
  const limit = Math.min(Number(query.get('limit') ?? 20), LARGEST_PAGE)
  const offset = Number(query.get('offset') ?? 0)
  if (offset + limit > most) return [422, { message: 'Request body is not processable. limit and offset are too high' }]
  const data = all.slice(offset, offset + limit)
  const isLast = offset + data.length >= all.length
  return [200, { data, totalCount: all.length, paging: isLast ? {} : { next: `offset=${offset + limit}` }, took: 0.1 }]
}

export async function startFakeOpsgenie() {
  const world = createWorld()
  const settings = { most: 20_000 }
  const page = (query: URLSearchParams, all: readonly unknown[]) => pageOf(query, all, settings.most)
  const routes: FakeRoute[] = [
    [/^\/v1\/services$/, (query) => page(query, world.services)],
    [/^\/v1\/services\/([^/]+)$/, (_query, id) => wrapped(world.services.find((each) => each.id === id))],
    [
      /^\/v1\/incidents$/,
      (query) => {
        const [, service, until] =
          /^impactedServices:(\S+)(?: AND createdAt <= (\d+))?$/.exec(query.get('query') ?? '') ?? []
        const found = world.incidents.filter(
          ({ impactedServices, createdAt }) =>
            (!service || impactedServices.includes(service)) && (!until || Date.parse(createdAt) <= Number(until)),
        )
        return page(
          query,
          found.toSorted((one, other) => Number(other.tinyId) - Number(one.tinyId)),
        )
      },
    ],
    [/^\/v2\/users$/, (query) => page(query, world.users)],
    [/^\/v2\/teams$/, () => [200, { data: world.teams, took: 0.1 }]],
  ]
  const api = await startFakeApi({
    authorization: `GenieKey ${KEY}`,
    now: () => world.now(),
    routes,
    notFound: { message: 'Resource not found', took: 0.1 },
  })
  return Object.assign(api, { world, settings })
}
export type FakeOpsgenie = Awaited<ReturnType<typeof startFakeOpsgenie>>

const wrapped = (data: unknown): Answer => [200, data && { data }]
