/** Finds the present step from what exists on the server, so that anybody can leave the guided start at any step and continue it later. */
import { useQuery } from '@tanstack/react-query'
import { question } from '../api/queries.ts'
import { askedSources, type Source } from '../api/sources.ts'
import { type ConnectionOverview, type ListedScope, useScopes } from '../sources/asked.ts'
import { STEPS, type StartView, type Step } from './address.ts'

export interface Way {
  readonly step: Step
  readonly done: ReadonlySet<Step>
  readonly sources: readonly Source[]
  readonly connections: readonly ConnectionOverview[]
  /** The connection that the guided start is about. */
  readonly connection: ConnectionOverview | undefined
  readonly source: Source | undefined
  readonly scopes: readonly ListedScope[]
  readonly project: string | undefined
}

const EVERY_MS = 60_000

export function useWay(view: StartView) {
  const sources = useQuery(askedSources)
  const connections = useQuery({ ...question('GET /v1/connections'), staleTime: EVERY_MS })
  const connection = connectionOf(view, connections.data ?? [])
  const scopes = useScopes(connection?.plugin ?? '', connection?.id ?? 0, '', connection !== undefined)
  const isKnown = connection === undefined || scopes.data !== undefined
  const way =
    sources.data && connections.data && isKnown
      ? wayOf(view, sources.data, connections.data, connection, scopes.data ?? [])
      : undefined
  const failed = [sources, connections, scopes].find(({ isError, data }) => isError && data === undefined)
  return { way, failed }
}

/** The connection in the address, or else the newest. */
function connectionOf({ plugin, connection }: StartView, all: readonly ConnectionOverview[]) {
  if (connection !== undefined) return all.find((each) => each.plugin === plugin && each.id === connection)
  return all.toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1))[0]
}

function wayOf(
  view: StartView,
  sources: readonly Source[],
  connections: readonly ConnectionOverview[],
  connection: ConnectionOverview | undefined,
  scopes: readonly ListedScope[],
): Way {
  const source = sources.find(({ plugin }) => plugin === connection?.plugin)
  const project = view.project ?? scopes.flatMap(({ usedBy }) => usedBy)[0]
  const hasRules = scopes.some(({ scopeConfigId }) => scopeConfigId !== null)
  const done = new Set<Step>([
    ...(connection ? (['connect'] as const) : []),
    ...(scopes.length > 0 ? (['choose'] as const) : []),
    ...(hasRules || project !== undefined ? (['rules'] as const) : []),
    ...(project === undefined ? [] : (['project'] as const)),
  ])
  const next = STEPS.find((step) => !done.has(step)) ?? 'numbers'
  const wanted = view.step ?? next
  // A step is possible only after the one that it builds on.
  const step = STEPS.indexOf(wanted) > STEPS.indexOf(next) ? next : wanted
  return { step, done, sources, connections, connection, source, scopes, project }
}
