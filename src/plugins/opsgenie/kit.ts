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
export const entity = kit.entityMaker<Service, unknown>({ scopeColumn: null })

/** An incident may impact several services. DevLake keeps only the one that was collected last. */
export const serviceIncidents = table('service_incidents', 'ServiceIncident', {
  service_id: key(string(191, (_incident, { scope }) => scope.id)),
  incident_id: key(string(191, 'id')),
})
export const onService = {
  joins: { tie: innerJoin(serviceIncidents, { connection_id: 'connection_id', incident_id: 'id' }) },
  where: ({ id }: Service) => ({ 'tie.service_id': id }),
}

export const data = (body: RawRecord) => body.data
/** https://docs.opsgenie.com/docs/incident-api#list-incidents: at most 100. Pages of lists with a total are read concurrently. */
const SIZE = 100
/** The largest sum of `offset` and `limit`: https://docs.opsgenie.com/docs/alert-api#list-alerts */
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
 * Reads a list by time of creation, newest first, of which Opsgenie returns at most this many records. If the list is longer,
 * another request asks for the records that are not newer than the last of them. Those count as a part of the list, whatever
 * total they have.
 */
export function newestFirst(most: number) {
  const total = totalUpTo(most)
  return {
    paging: offset({ size: SIZE, total: (response) => (isOfOlder(response) ? undefined : total(response)) }),
    longList: {
      mostPages: most / SIZE,
      older: {
        // In milliseconds, because these texts all have the same length.
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
