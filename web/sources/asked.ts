/** Queries of the pages about connections. */
import { useQuery } from '@tanstack/react-query'
import { type AnswerTo, ask } from '../api/ask.ts'
import { question, refresh } from '../api/queries.ts'
import { askedSources } from '../api/sources.ts'

export type ConnectionOverview = AnswerTo<'GET /v1/connections'>[number]
export type ListedScope = AnswerTo<'GET /v1/connections/{plugin}/{connectionId}/scopes'>['scopes'][number]

export type Connection = AnswerTo<'GET /plugins/{plugin}/connections/{connectionId}'>

export function useSource(plugin: string) {
  const sources = useQuery(askedSources)
  return { sources, source: sources.data?.find((each) => each.plugin === plugin) }
}

export const connectionQuestion = (plugin: string, connectionId: number) =>
  question('GET /plugins/{plugin}/connections/{connectionId}', { path: { plugin, connectionId } })

const PAGE_SIZE = 1000

/** Loads all scopes of a connection with these words in their name, however many there are. */
export async function allScopes(
  plugin: string,
  connectionId: number,
  searchTerm = '',
  signal?: AbortSignal,
): Promise<readonly ListedScope[]> {
  const scopes: ListedScope[] = []
  for (let page = 1; ; page++) {
    const query = { page, pageSize: PAGE_SIZE, ...(searchTerm && { searchTerm }) }
    const path = { plugin, connectionId }
    const found = await ask('GET /v1/connections/{plugin}/{connectionId}/scopes', { path, query }, signal)
    scopes.push(...found.scopes)
    if (found.scopes.length < PAGE_SIZE || scopes.length >= found.count) return scopes
  }
}

export const useScopes = (plugin: string, connectionId: number, searchTerm = '', enabled = true) =>
  useQuery({
    queryKey: ['GET /v1/connections/{plugin}/{connectionId}/scopes', { plugin, connectionId, searchTerm }],
    queryFn: ({ signal }) => allScopes(plugin, connectionId, searchTerm, signal),
    enabled,
    // Keeps the old list while a word is typed, but never shows scopes of another connection.
    placeholderData: (before, query) => {
      const asked = query?.queryKey[1] as { plugin: string; connectionId: number } | undefined
      return asked?.plugin === plugin && asked.connectionId === connectionId ? before : undefined
    },
  })

/** Call this after any change of connections. */
export const refreshConnections = () =>
  refresh(
    'GET /v1/connections',
    'GET /v1/connections/{plugin}/{connectionId}/scopes',
    'GET /plugins/{plugin}/connections',
    'GET /plugins/{plugin}/connections/{connectionId}',
    'GET /plugins/{plugin}/connections/{connectionId}/scopes',
  )

/** The result of a connection test; which fields it has depends on the source. */
export interface TestResult {
  readonly success: boolean
  readonly message: string
  readonly login?: string
  readonly warning?: boolean
  readonly requestsLeft?: number
  readonly tokens?: readonly TokenResult[]
}
export interface TokenResult {
  readonly token: string
  readonly success: boolean
  readonly message?: string
  readonly login: string
  readonly warning: boolean
}

export const testStored = (plugin: string, connectionId: number, changes: Readonly<Record<string, unknown>> = {}) =>
  ask('POST /plugins/{plugin}/connections/{connectionId}/test', {
    path: { plugin, connectionId },
    body: changes,
  }) as Promise<TestResult>

export const testUnsaved = (plugin: string, values: Readonly<Record<string, unknown>>) =>
  ask('POST /plugins/{plugin}/test', { path: { plugin }, body: values }) as Promise<TestResult>
