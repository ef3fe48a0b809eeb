/** Every view has an address that can be sent to a colleague. Each group of pages declares its own addresses. */
import { createRouter } from '@tanstack/react-router'
import { answerPlaces } from './answer/places.ts'
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
    ...answerPlaces,
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

const { navigate } = router
/**
 * While the next page loads, the last one is still there: a late answer or a timer of it would change the address, and lead back.
 * So only the page that the address belongs to may change it without saying where to go.
 * Two pages of one route, such as two runs, are not told apart.
 */
router.navigate = (options) => {
  const [matched] = router.getMatchedRoutes(router.history.location.pathname)
  const isLate = options.to === undefined && options.from && !matched.some(({ fullPath }) => fullPath === options.from)
  return isLate ? Promise.resolve() : navigate(options)
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
