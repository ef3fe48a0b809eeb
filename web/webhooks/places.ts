import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root } from '../root.tsx'
import type { WebhookListSearch, WebhookSearch } from './address.ts'

export const webhookPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/sources/webhooks',
    validateSearch: (search): WebhookListSearch => (search.create ? { create: true } : {}),
    component: lazyRouteComponent(() => import('./list.tsx'), 'WebhookList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sources/webhooks/$id',
    validateSearch: (search): WebhookSearch =>
      Number(search.delivery) > 0 ? { delivery: Number(search.delivery) } : {},
    component: lazyRouteComponent(() => import('./webhook.tsx'), 'WebhookPage'),
  }),
] as const
