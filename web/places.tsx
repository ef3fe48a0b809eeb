/** Every view has an address that can be sent to a colleague. Each group of pages declares its own addresses. */
import { createRouter } from '@tanstack/react-router'
import { blueprintPlaces } from './blueprints/places.ts'
import { dashboardPlaces } from './dashboards/places.ts'
import { parseSearch, stringifySearch } from './dashboards/search.ts'
import { dataPlaces } from './data/places.ts'
import { overviewPlaces } from './overview/places.ts'
import { projectPlaces } from './projects/places.ts'
import { root } from './root.tsx'
import { runPlaces } from './runs/places.ts'
import { settingsPlaces } from './settings/places.ts'
import { sourcePlaces } from './sources/places.ts'
import { rulePlaces } from './sources/rules/places.ts'
import { startPlaces } from './start/places.ts'
import { trafficPlaces } from './traffic/places.ts'
import { webhookPlaces } from './webhooks/places.ts'

export const router = createRouter({
  routeTree: root.addChildren([
    ...overviewPlaces,
    ...startPlaces,
    ...projectPlaces,
    ...dashboardPlaces,
    ...blueprintPlaces,
    ...sourcePlaces,
    ...rulePlaces,
    ...runPlaces,
    ...dataPlaces,
    ...trafficPlaces,
    ...settingsPlaces,
    ...webhookPlaces,
  ]),
  defaultPreload: 'intent',
  parseSearch,
  stringifySearch,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
