import { useQueries, useQuery } from '@tanstack/react-query'
import { ask, type Operation } from '../api/ask.ts'
import { question } from '../api/queries.ts'

export interface NamedConnection {
  readonly plugin: string
  /** Of the source. */
  readonly title: string
  readonly id: number
  readonly name: string
}

/** Every source has the same routes, below its own name. */
const listOf = (plugin: string) => `GET /plugins/${plugin}/connections` as Operation

/** Connections of all sources, as far as they have answered. */
export function useConnections(isWanted = true): readonly NamedConnection[] {
  const sources = useQuery({ ...question('GET /v1/sources'), enabled: isWanted, staleTime: 60_000 })
  const asked = useQueries({
    queries: (sources.data ?? []).map(({ plugin }) => ({
      queryKey: [listOf(plugin), null],
      queryFn: () =>
        ask(listOf(plugin) as 'GET /plugins/github/connections') as Promise<readonly { id: number; name: string }[]>,
      enabled: isWanted,
    })),
  })
  return (sources.data ?? []).flatMap(({ plugin, title }, index) =>
    (asked[index]?.data ?? []).map(({ id, name }) => ({ plugin, title, id, name })),
  )
}
