import type { RawRecord } from '../../database/table.ts'
import { bigint, key, type RowOf, string, text } from '../../database/table.ts'
import { type HttpRequest, type HttpResponse, innerJoin, offset, pluginKit } from '../../plugin-kit/index.ts'

const kit = pluginKit('opsgenie')

export const services = kit.table('services', 'Service', {
  id: key(string(191)),
  scope_config_id: bigint(() => 0),
  url: text('links.web'),
  name: text(),
  team_id: text('teamId'),
})
export type Service = RowOf<typeof services>
export const table = kit.tableMaker<Service, unknown>()
export const entity = kit.entityMaker<Service, unknown>(() => ({}))

/** An incident may impact several services; DevLake keeps the one that was collected last. */
export const serviceIncidents = table('service_incidents', 'ServiceIncident', {
  service_id: key(string(191, (_incident, { scope }) => scope.id)),
  incident_id: key(string(191, 'id')),
})
export const onService = {
  joins: { tie: innerJoin(serviceIncidents, { connection_id: 'connection_id', incident_id: 'id' }) },
  where: ({ id }: Service) => ({ 'tie.service_id': id }),
}

export const data = (body: RawRecord) => body.data
/** https://docs.opsgenie.com/docs/incident-api#list-incidents: 100 at most. Lists that tell how many there are are read side by side. */
const SIZE = 100
/** The sum of `offset` and `limit` has an end: https://docs.opsgenie.com/docs/alert-api#list-alerts */
export const MOST = 20_000

const totalUpTo =
  (most: number) =>
  ({ body }: HttpResponse) =>
    typeof body?.totalCount === 'number' ? Math.min(body.totalCount, most) : undefined
export const PAGE = offset({ size: SIZE, total: totalUpTo(MOST) })

// https://support.atlassian.com/opsgenie/docs/search-syntax-for-incidents/
const NOT_NEWER = ' AND createdAt <= '
const isOfOlder = ({ url }: HttpResponse) => new URL(url).searchParams.get('query')?.includes(NOT_NEWER)

/**
 * A list by time of creation, newest first, of which Opsgenie gives no more than so many: where it is longer, what is not newer
 * than the last of them is asked for by itself. It counts as a part of the list, whatever its own total.
 */
export function newestFirst(most: number) {
  const total = totalUpTo(most)
  return {
    paging: offset({ size: SIZE, total: (response) => (isOfOlder(response) ? undefined : total(response)) }),
    longList: {
      mostPages: most / SIZE,
      older: {
        // In milliseconds, whose texts are all of one length.
        timeOf: ({ createdAt }: RawRecord) => String(Date.parse(createdAt)),
        request: (request: HttpRequest, until: string) => ({
          ...request,
          query: { ...request.query, query: `${request.query?.query}${NOT_NEWER}${until}` },
        }),
        paging: offset({ size: SIZE, total }),
      },
    },
  }
}
