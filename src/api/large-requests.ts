/** Large bodies stay in memory until they are complete. Their number is limited, so that nobody fills the memory by sending slowly. */
import type { FastifyRequest } from 'fastify'
import { UnavailableError } from '../errors.ts'
import { networkOf } from './access/attempt-limit.ts'
import { sizeOf } from './access/route-law.ts'
import type { Api } from './api.ts'

const LARGE = 4 * 1024 * 1024
const MOST = 16
const MOST_OF_ONE_ADDRESS = 8

/** A request that does not say its length may send as much as the route allows. */
const isLarge = (request: FastifyRequest): boolean => {
  const { bytes } = sizeOf(request)
  const { 'content-length': said, 'transfer-encoding': coding } = request.headers
  return bytes > LARGE && (coding === undefined ? Number(said ?? 0) : bytes) > LARGE
}

/** Runs after the user is known. */
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
