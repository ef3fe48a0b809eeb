import { byName } from '../../by-name.ts'

/** What a switch keeps of one route. A plan without a list of routes has it in the columns themselves. */
interface Memory {
  readonly target_group_arn: string | null
  readonly applied_action: string | null
  readonly original_ingress: string | null
  /** Of the first route of each host. */
  readonly dns_record: string | null
}
interface Row extends Memory {
  /** The same of each route of a list, by their names, as JSON. */
  readonly routes: string | null
}

const NOTHING: Memory = { target_group_arn: null, applied_action: null, original_ingress: null, dns_record: null }

const memoriesIn = ({ routes }: Pick<Row, 'routes'>): Readonly<Record<string, Partial<Memory>>> =>
  byName(routes === null ? {} : JSON.parse(routes))

/** The switch as one of its routes sees it. */
export const rowOfRoute = <R extends Row>(row: R, route: string | undefined): R =>
  route === undefined ? row : { ...row, ...NOTHING, ...memoriesIn(row)[route] }

/** What a route learned, in the form in which the switch keeps it. */
export function changesOfRoute<Changes extends Partial<Row>>(
  row: Row,
  route: string | undefined,
  changes: Changes,
): Changes | { readonly routes: string } {
  const learned = Object.entries(changes).filter(([name]) => Object.hasOwn(NOTHING, name))
  if (route === undefined || learned.length === 0) return changes
  const memories = memoriesIn(row)
  const own = { ...memories[route], ...Object.fromEntries(learned) }
  const others = Object.fromEntries(Object.entries(changes).filter(([name]) => !Object.hasOwn(NOTHING, name)))
  return { ...others, routes: JSON.stringify({ ...memories, [route]: own }) }
}

/** The target groups of a list of routes, as far as they are known. */
export const knownGroups = (row: Pick<Row, 'routes'>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(memoriesIn(row)).flatMap(([route, { target_group_arn: arn }]) => (arn ? [[route, arn]] : [])),
  )

/** Records that are back where they were: what a later move meets there is its own way back. */
export const forgottenRecords = (row: Pick<Row, 'routes'>): Partial<Row> => ({
  dns_record: null,
  ...(row.routes !== null && {
    routes: JSON.stringify(
      Object.fromEntries(Object.entries(memoriesIn(row)).map(([route, own]) => [route, { ...own, dns_record: null }])),
    ),
  }),
})
