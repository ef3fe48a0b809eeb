import { bigint, key, type RowOf, string, text } from '../../database/table.ts'
import { offset, pluginKit } from '../../plugin-kit/index.ts'

const kit = pluginKit('pagerduty')
export const { table } = kit

export const services = table('services', 'Service', {
  id: key(string(191)),
  scope_config_id: bigint(() => 0),
  url: text('html_url'),
  name: text(),
})
type Service = RowOf<typeof services>

export const entity = kit.entityMaker<Service, unknown>({ scopeColumn: 'service_id', scopeKey: 'id' })

/** https://developer.pagerduty.com/docs/pagination: `total` is returned only on request. */
export const PAGE = offset({ size: 100, total: ({ body }) => body.total ?? undefined })
export const WITH_TOTAL = { total: true }
