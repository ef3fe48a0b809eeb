/** Bodies of megabytes are kept in memory until they are whole: only so many at once, so that nobody fills it by sending slowly. */
import type { FastifyRequest } from 'fastify'
import { UnavailableError } from '../errors.ts'
import { networkOf } from './access/attempt-limit.ts'
import { sizeOf } from './access/route-law.ts'
import type { Api } from './api.ts'

const LARGE = 4 * 1024 * 1024
const MOST = 16
const MOST_OF_ONE_ADDRESS = 8

/** Those that do not say how much it is may send all that the route takes. */
const isLarge = (request: FastifyRequest): boolean => {
  const { bytes } = sizeOf(request)
  const { 'content-length': said, 'transfer-encoding': coding } = request.headers
  return bytes > LARGE && (coding === undefined ? Number(said ?? 0) : bytes) > LARGE
}

/** After it is settled who asks. */
export function limitLargeRequests(api: Api): void {
  const places = new Map<string, number>()
  const change = (address: string, by: number) => {
    const count = (places.get(address) ?? 0) + by
    if (count > 0) places.set(address, count)
    else places.delete(address)
  }
  api.addHook('onRequest', async (request, reply) => {
    if (!isLarge(request)) return
    const address = networkOf(request.ip)
    const taken = [...places.values()].reduce((sum, count) => sum + count, 0)
    if (taken >= MOST || (places.get(address) ?? 0) >= MOST_OF_ONE_ADDRESS) {
      throw new UnavailableError('Too many large bodies are on their way: try again in a few seconds.')
    }
    change(address, 1)
    reply.raw.once('close', () => change(address, -1))
  })
}
