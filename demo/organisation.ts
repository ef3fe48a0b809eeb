/** Who there is: a shop of eight services, four teams, and the people in them. */
export interface Team {
  readonly name: string
  readonly people: readonly Person[]
}
export interface Person {
  readonly login: string
  readonly name: string
  readonly email: string
}
export interface Service {
  readonly name: string
  readonly title: string
  readonly team: string
  /** Its subjects, for titles of changes. */
  readonly parts: readonly string[]
  /** Merged in a usual week. */
  readonly changesAWeek: number
  /** From the first commit to the merge of a usual change. */
  readonly hoursToMerge: number
  /** Deployments to production in a usual week; the changes that are merged by then go with them. */
  readonly deploymentsAWeek: number
  /** The share of deployments that are followed by an incident. */
  readonly failureShare: number
  readonly hoursToRecover: number
  /** It moved there after the bad quarter; before then GitHub built it. */
  readonly isBuiltOnCircleci: boolean
  /** It has an app whose releases and alarms other tools report by themselves. */
  readonly hasApp: boolean
}

const NAMES: Readonly<Record<string, readonly string[]>> = {
  Storefront: [
    'Ada Marsh',
    'Bruno Keller',
    'Chiara Conti',
    'Deniz Aydin',
    'Elif Kaya',
    'Femi Adebayo',
    'Grace Liu',
    'Hugo Blanc',
    'Ines Moreau',
    'Jonas Brandt',
  ],
  Payments: [
    'Karim Haddad',
    'Lena Fischer',
    'Mateo Silva',
    'Nadia Petrova',
    'Oskar Lind',
    'Priya Nair',
    'Quentin Roux',
    'Rosa Jimenez',
    'Samir Shah',
  ],
  Logistics: [
    'Tomasz Nowak',
    'Ulla Berg',
    'Victor Osei',
    'Wanda Kowalska',
    'Xin Zhao',
    'Yara Costa',
    'Zoe Clarke',
    'Anton Weber',
    'Bea Romano',
    'Carlos Ruiz',
  ],
  Platform: [
    'Dana Levi',
    'Emil Novak',
    'Fatou Diallo',
    'Goran Ilic',
    'Hana Sato',
    'Ivan Horvat',
    'Julia Schmid',
    'Kofi Mensah',
    'Lucia Vidal',
  ],
}

function personOf(name: string): Person {
  const login = name.toLowerCase().replace(/[^a-z]+/g, '-')
  return { login, name, email: `${login.replace('-', '.')}@tidewater.example` }
}

export const OWNER = 'tidewater'
export const BOTS = ['dependabot[bot]', 'renovate[bot]'] as const
export const TEAMS: readonly Team[] = Object.entries(NAMES).map(([name, people]) => ({
  name,
  people: people.map(personOf),
}))
export const PEOPLE: readonly Person[] = TEAMS.flatMap(({ people }) => people)

type Numbers = readonly [
  changesAWeek: number,
  hoursToMerge: number,
  deploymentsAWeek: number,
  failureShare: number,
  hoursToRecover: number,
]

const service = (
  [name, title, team]: readonly [string, string, string],
  parts: readonly string[],
  [changesAWeek, hoursToMerge, deploymentsAWeek, failureShare, hoursToRecover]: Numbers,
  more: Partial<Service> = {},
): Service => ({
  name,
  title,
  team,
  parts,
  changesAWeek,
  hoursToMerge,
  deploymentsAWeek,
  failureShare,
  hoursToRecover,
  isBuiltOnCircleci: false,
  hasApp: false,
  ...more,
})

export const SERVICES: readonly Service[] = [
  service(
    ['checkout', 'Checkout', 'Storefront'],
    ['basket', 'address form', 'voucher', 'summary'],
    [5, 20, 6, 0.09, 2],
  ),
  service(
    ['catalogue', 'Catalogue', 'Storefront'],
    ['product page', 'filters', 'images', 'ratings'],
    [4, 26, 4, 0.06, 3],
  ),
  service(['search', 'Search', 'Storefront'], ['ranking', 'synonyms', 'index', 'suggestions'], [3, 34, 2.5, 0.1, 5], {
    isBuiltOnCircleci: true,
  }),
  service(
    ['payments', 'Payments', 'Payments'],
    ['card form', 'refunds', 'ledger', 'fraud check'],
    [4, 40, 2, 0.12, 4],
    { isBuiltOnCircleci: true },
  ),
  service(['invoices', 'Invoices', 'Payments'], ['export', 'tax', 'templates', 'reminders'], [2, 60, 0.8, 0.15, 14]),
  service(['warehouse', 'Warehouse', 'Logistics'], ['stock', 'pick list', 'returns', 'labels'], [3, 72, 1, 0.2, 20]),
  service(['delivery', 'Delivery', 'Logistics'], ['routes', 'slots', 'tracking', 'carriers'], [3, 48, 1.6, 0.11, 8], {
    hasApp: true,
  }),
  service(['accounts', 'Accounts', 'Platform'], ['sign-in', 'profile', 'sessions', 'consent'], [3, 18, 5, 0.05, 1]),
]

/** How much of the organisation there is, and for how long. */
export interface Size {
  /** Names. */
  readonly services: readonly string[]
  readonly weeks: number
}
export const WHOLE: Size = { services: SERVICES.map(({ name }) => name), weeks: 78 }
/** One of each kind, for tests. */
export const SMALL: Size = { services: ['payments', 'delivery'], weeks: 26 }
