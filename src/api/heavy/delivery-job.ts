import { deliverySpecOf, type ReadDelivery } from '../../control-plane/connections/deliveries.ts'
import { UserError } from '../../errors.ts'
import type { SentDelivery } from '../../plugin-kit/spec/deliveries.ts'
import { plugins } from '../../plugins/index.ts'
import { readSentDelivery as read } from '../read-delivery.ts'

export function readSentDelivery(plugin: string, sent: SentDelivery): ReadDelivery {
  const spec = deliverySpecOf(plugins, plugin)
  if (!spec) throw new UserError(`${plugin} sends nothing by itself that Weir understands.`, { status: 404 })
  // On the way into the thread the Buffer became a Uint8Array.
  return read(spec, { ...sent, body: Buffer.from(sent.body) })
}
