/** What pages about rules ask the server for. */
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { AnswerTo } from '../../api/ask.ts'
import { question } from '../../api/queries.ts'
import { ofSource, type Source } from '../../api/sources.ts'
import { useMay } from '../../frame/sign-in.tsx'
import { counted } from '../../parts/words.ts'

export type Names = AnswerTo<'GET /v1/names'>
export type Name = Names['kinds'][number]['names'][number]
export type RuleValues = Readonly<Record<string, unknown>>
/** What all sources' scope configs have; the rest are fields of the source. */
export interface RuleConfig extends RuleValues {
  readonly id: number
  readonly name: string
  readonly entities: readonly string[]
  readonly updatedAt: string
}

export const fieldsOf = ({ scopeConfig }: Source) => Object.entries(scopeConfig)

export const configsQuestion = (plugin: string, connectionId: number) =>
  question(ofSource('GET /plugins/github/connections/{connectionId}/scope-configs', plugin), {
    path: { connectionId },
  })

export const configQuestion = (plugin: string, connectionId: number, scopeConfigId: number) =>
  question(ofSource('GET /plugins/github/connections/{connectionId}/scope-configs/{scopeConfigId}', plugin), {
    path: { connectionId, scopeConfigId },
  })

export const projectsQuestion = (plugin: string, scopeConfigId: number) =>
  question(ofSource('GET /plugins/github/scope-config/{scopeConfigId}/projects', plugin), { path: { scopeConfigId } })

/** Asks the source itself before anything is collected: only those who may do that see them. */
export function useNames(plugin: string, connectionId: number, scopeConfigId?: number) {
  const may = useMay('admin')
  return useQuery({
    ...question('GET /v1/names', {
      query: { plugin, connectionId, ...(scopeConfigId && { scopeConfigId }) },
    }),
    enabled: may,
    staleTime: 5 * 60_000,
  })
}

/** Which of the names a pattern matches, a moment after it was typed; what was known before stays until then. */
export function useMatches(pattern: string, names: readonly string[]) {
  const [typed] = useDebouncedValue(pattern, 200)
  return useQuery({
    ...question('POST /v1/patterns/match', { body: { pattern: typed, names } }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })
}

/** `3 repositories`: scopes as the source calls them. */
export function scopesWord({ scope }: Pick<Source, 'scope'>, amount: number): string {
  const one = scope.title.toLowerCase()
  return counted(
    amount,
    one,
    one.replace(/y?$/, (end) => (end === 'y' ? 'ies' : 's')),
  )
}
