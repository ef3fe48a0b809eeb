/** The main pages, in the order of the navigation. */
export const PLACES = [
  { to: '/', title: 'Overview', icon: 'M3 9.5 10 3l7 6.5M5 8v8.5h10V8' },
  { to: '/projects', title: 'Projects', icon: 'M3 12 8 6l4 4 5-7' },
  { to: '/dashboards', title: 'Dashboards', icon: 'M4 16V9M8 16V4M12 16v-6M16 16V7' },
  {
    to: '/sources',
    title: 'Sources',
    icon: 'M4 5c0-3 12-3 12 0v10c0 3-12 3-12 0zM4 5c0 3 12 3 12 0M4 10c0 3 12 3 12 0',
  },
  { to: '/runs', title: 'Runs', icon: 'M6 4v12l10-6z' },
  { to: '/data', title: 'Data', icon: 'M10 3l7 3.5-7 3.5-7-3.5zM3 10l7 3.5 7-3.5M3 13.5 10 17l7-3.5' },
  { to: '/traffic', title: 'Traffic', icon: 'M3 6h9l-3-3M12 6l-3 3M17 14H8l3-3M8 14l3 3' },
  { to: '/settings', title: 'Settings', icon: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4' },
] as const

/** Shown in the navigation on a phone; the rest is behind "More". */
const AT_HAND: readonly string[] = ['/', '/projects', '/dashboards', '/runs']
export const FIRST = PLACES.filter(({ to }) => AT_HAND.includes(to))
export const REST = PLACES.filter(({ to }) => !AT_HAND.includes(to))
