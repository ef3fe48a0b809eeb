import { byName } from '../../basics/by-name.ts'

/** The values that a switch stores for one route. For a plan without a list of routes, the columns themselves hold them. */
interface Memory {
  readonly target_group_arn: string | null
  readonly applied_action: string | null
  readonly original_ingress: string | null
  readonly deleted_ingress: string | null
  readonly target_mode_before: string | null
  /** Stored for the first route of each host. */
  readonly dns_record: string | null
}
interface Row extends Memory {
  /** The same values for each route of a list, by their names, as JSON. */
  readonly routes: string | null
}

const NOTHING: Memory = {
  target_group_arn: null,
  applied_action: null,
  original_ingress: null,
  deleted_ingress: null,
  target_mode_before: null,
  dns_record: null,
}

type Memories = Readonly<Record<string, Partial<Memory>>>

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Undefined if somebody has put something else there by hand. */
function memoriesIn({ routes }: Pick<Row, 'routes'>): Memories | undefined {
  try {
    const value: unknown = JSON.parse(routes ?? '{}')
    return isMap(value) && Object.values(value).every(isMap) ? (byName(value) as Memories) : undefined
  } catch {
    return undefined
  }
}

/** True if what the routes had learned cannot be read any more: rolling back does without it, going on cannot. */
export const hasLostMemory = (row: Pick<Row, 'routes'>): boolean => memoriesIn(row) === undefined

export const lostMemory = (id: string): string =>
  `What switch ${id} keeps of its routes cannot be read. Roll back, which needs nothing of it, or put the column routes of ${id} back into the table _weir_traffic_switches from a backup.`

/** The row of the switch as one of its routes sees it. */
export const rowOfRoute = <R extends Row>(row: R, route: string | undefined): R =>
  route === undefined ? row : { ...row, ...NOTHING, ...memoriesIn(row)?.[route] }

/** Puts what a route learned into the form in which the switch stores it. */
export function changesOfRoute<Changes extends Partial<Row>>(
  row: Row,
  route: string | undefined,
  changes: Changes,
): Changes | { readonly routes: string } {
  const learned = Object.entries(changes).filter(([name]) => Object.hasOwn(NOTHING, name))
  if (route === undefined || learned.length === 0) return changes
  const memories = memoriesIn(row)
  const others = Object.fromEntries(Object.entries(changes).filter(([name]) => !Object.hasOwn(NOTHING, name)))
  // Half of the stored values would look like all of them.
  if (memories === undefined) return others as Changes
  const own = { ...memories[route], ...Object.fromEntries(learned) }
  return { ...others, routes: JSON.stringify({ ...memories, [route]: own }) }
}

/** The target groups of a list of routes, as far as they are known. */
export const knownGroups = (row: Pick<Row, 'routes'>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(memoriesIn(row) ?? {}).flatMap(([route, { target_group_arn: arn }]) => (arn ? [[route, arn]] : [])),
  )

/** Drops what has been put back: a later move begins with what it finds then. */
export function forgottenWays(row: Pick<Row, 'routes'>): Partial<Row> {
  const memories = memoriesIn(row)
  const forgotten = { dns_record: null, deleted_ingress: null }
  if (row.routes === null || memories === undefined) return { ...forgotten, routes: null }
  const kept = Object.entries(memories).map(([route, own]) => [route, { ...own, ...forgotten }])
  return { ...forgotten, routes: JSON.stringify(Object.fromEntries(kept)) }
}
