import { z } from 'zod'
import { isTrafficInstalled, refuseTraffic } from '../../start/traffic-door.ts'
import type { Routes } from '../api.ts'

const ADDRESSES = [
  '/v1/traffic-switches',
  '/v1/traffic-switches/*',
  '/v1/traffic-plans/*',
  '/v1/traffic-imports',
  '/v1/traffic-imports/*',
  '/v1/traffic-contexts',
]

/** They say how to add traffic switching, which is not installed. */
const refusals: Routes = (api) => {
  for (const url of ADDRESSES)
    api.route({
      url,
      method: ['GET', 'POST', 'PUT'],
      config: { least: 'viewer', reach: 'everywhere', size: 'list', cost: 'light' },
      schema: { hide: true, querystring: z.looseObject({}) },
      handler: async () => refuseTraffic(),
    })
}

export const trafficRoutes = async (): Promise<Routes> =>
  isTrafficInstalled() ? (await import('./traffic/index.ts')).trafficRoutes : refusals
