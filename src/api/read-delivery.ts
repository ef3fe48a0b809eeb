import { type ReadDelivery, readDelivery } from '../control-plane/connections/deliveries.ts'
import { UserError } from '../errors.ts'
import type { DeliverySpec, SentDelivery } from '../plugin-kit/spec/deliveries.ts'
import { SIZES } from '../plugin-kit/spec/route-size.ts'
import { parseBody } from './body.ts'

/** Reads the parts of a delivery that are kept, once its signature was found to be right. */
export const readSentDelivery = (spec: DeliverySpec, sent: SentDelivery): ReadDelivery =>
  readDelivery(spec, sent, readPayload(sent))

/** With form encoding, GitHub puts the JSON into the only field. */
function readPayload({ headers, body }: SentDelivery): unknown {
  const type = headers['content-type']
  const read = parse(body.toString(), type) as { readonly payload?: unknown } | undefined
  const isForm = type?.startsWith('application/x-www-form-urlencoded')
  const payload = isForm && typeof read?.payload === 'string' ? parse(read.payload) : read
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload)) {
    throw new UserError('The delivery is no JSON object: choose application/json as its content type.')
  }
  return payload
}

const parse = (text: string, type?: string): unknown =>
  parseBody({ headers: type === undefined ? {} : { 'content-type': type } }, text, SIZES.delivery)
