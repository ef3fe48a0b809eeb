import type { FastifyRequest } from 'fastify'
import { requireCleanText } from '../basics/clean-text.ts'
import type { Api } from './api.ts'

async function requireCleanRequest({ params, query, body }: FastifyRequest): Promise<void> {
  requireCleanText(params, 'The address')
  requireCleanText(query, 'The query')
  requireCleanText(body, 'The body')
}

/** Call this before any route is added. Hooks of a route run after those of the scope around it, so uploads have been read by then. */
export function cleanRequests(api: Api): void {
  api.addHook('onRoute', (route) => {
    route.preValidation = [route.preValidation ?? [], requireCleanRequest].flat()
  })
}
