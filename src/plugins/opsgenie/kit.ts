import type { RawRecord } from '../../database/table.ts'
import { bigint, key, type RowOf, string, text } from '../../database/table.ts'
import { innerJoin, offset, pluginKit } from '../../plugin-kit/index.ts'

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
/** The sum of `offset` and `limit` has an end: https://docs.opsgenie.com/docs/alert-api#list-alerts */
const MOST = 20_000
/** https://docs.opsgenie.com/docs/incident-api#list-incidents: 100 at most. Lists that tell how many there are are read side by side. */
export const PAGE = offset({
  size: 100,
  total: ({ body }) => (typeof body?.totalCount === 'number' ? Math.min(body.totalCount, MOST) : undefined),
})
export const LONG_LIST = { mostPages: MOST / PAGE.size }
