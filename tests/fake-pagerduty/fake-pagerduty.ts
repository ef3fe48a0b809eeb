/**
 * The part of PagerDuty's REST API v2 that the plugin uses, over real HTTP: https://developer.pagerduty.com/api-reference.
 * Incidents come newest first, at most 100 per page, from the last 30 days unless a range is given. A range has at most six
 * months, and no page goes beyond `cap`. Parameters that the API does not have are refused.
 */
import { type Answer, type FakeRoute, startFakeApi } from '../support/fake-api.ts'
import { createWorld, type FakeIncident } from './world.ts'

export const TOKEN = 'pagerduty-key'
const DAY = 24 * 60 * 60 * 1000
const LARGEST_PAGE = 100
const PARAMETERS = {
  services: ['query', 'sort_by', 'limit', 'offset', 'total', 'team_ids[]', 'include[]', 'time_zone', 'name'],
  incidents: [
    'date_range',
    'incident_key',
    'include[]',
    'limit',
    'offset',
    'total',
    'service_ids[]',
    'since',
    'until',
    'sort_by',
    'statuses[]',
    'team_ids[]',
    'time_zone',
    'urgencies[]',
    'user_ids[]',
  ],
}

const refusal = (status: number, message: string): Answer => [status, { error: { message, code: 2001 } }]

export async function startFakePagerduty() {
  const world = createWorld()
  const settings = { cap: 10_000 }

  function page(name: 'services' | 'incidents', query: URLSearchParams, all: readonly unknown[]): Answer {
    const unknown = [...query.keys()].find((key) => !PARAMETERS[name].includes(key))
    if (unknown) return refusal(400, `unknown parameter ${unknown}`)
    const limit = Math.min(Number(query.get('limit') ?? 25), LARGEST_PAGE)
    const offset = Number(query.get('offset') ?? 0)
    if (offset + limit > settings.cap) return refusal(400, `offset and limit are more than ${settings.cap}`)
    const found = all.slice(offset, offset + limit)
    const total = query.get('total') === 'true' ? all.length : null
    return [200, { [name]: found, limit, offset, total, more: offset + found.length < all.length }]
  }
  function incidentsIn(query: URLSearchParams): readonly FakeIncident[] | string {
    const isAll = query.get('date_range') === 'all'
    const order = query.get('sort_by') === 'created_at:asc' ? -1 : 1
    const until = Date.parse(query.get('until') ?? '') || world.now().getTime() + DAY
    const since = Date.parse(query.get('since') ?? '') || until - 30 * DAY
    if (!isAll && until - since > 185 * DAY) return 'The range has more than six months'
    return world.incidents
      .filter(({ service }) => query.getAll('service_ids[]').includes(service.id))
      .filter(({ created_at }) => isAll || (Date.parse(created_at) >= since && Date.parse(created_at) < until))
      .toSorted((one, other) => (other.incident_number - one.incident_number) * order)
  }
  const routes: FakeRoute[] = [
    [
      /^\/services$/,
      (query) => {
        const part = (query.get('query') ?? '').toLowerCase()
        return page(
          'services',
          query,
          world.services.filter(({ name }) => name.toLowerCase().includes(part)),
        )
      },
    ],
    [/^\/services\/([^/]+)$/, (_query, id) => wrapped('service', world.services, (each) => each.id === id)],
    [
      /^\/incidents$/,
      (query) => {
        const found = incidentsIn(query)
        return typeof found === 'string' ? refusal(400, found) : page('incidents', query, found)
      },
    ],
    [
      /^\/incidents\/([^/]+)$/,
      (_query, id) =>
        wrapped('incident', world.incidents, (each) => each.id === id || String(each.incident_number) === id),
    ],
  ]
  const api = await startFakeApi({
    authorization: `Token token=${TOKEN}`,
    now: () => world.now(),
    routes,
    notFound: { error: { message: 'Not Found', code: 2100 } },
    quota: (remaining) => ({
      'ratelimit-limit': '960',
      'ratelimit-remaining': String(remaining),
      'ratelimit-reset': '1',
    }),
  })
  return Object.assign(api, { world, settings })
}
export type FakePagerduty = Awaited<ReturnType<typeof startFakePagerduty>>

function wrapped<Thing>(name: string, things: readonly Thing[], is: (thing: Thing) => boolean): Answer {
  const found = things.find(is)
  return [200, found && { [name]: found }]
}
