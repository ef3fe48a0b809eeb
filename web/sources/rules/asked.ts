/** Queries of the pages about rules. */
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { AnswerTo } from '../../api/ask.ts'
import { question } from '../../api/queries.ts'
import type { Source } from '../../api/sources.ts'
import { useMay } from '../../frame/sign-in.tsx'
import { counted } from '../../parts/words.ts'

export type Names = AnswerTo<'GET /v1/names'>
export type Name = Names['kinds'][number]['names'][number]
export type RuleValues = Readonly<Record<string, unknown>>
export type RuleConfig = AnswerTo<'GET /plugins/{plugin}/connections/{connectionId}/scope-configs/{scopeConfigId}'>

export const fieldsOf = ({ scopeConfig }: Source) => Object.entries(scopeConfig)

export const configsQuestion = (plugin: string, connectionId: number) =>
  question('GET /plugins/{plugin}/connections/{connectionId}/scope-configs', {
    path: { plugin, connectionId },
  })

export const configQuestion = (plugin: string, connectionId: number, scopeConfigId: number) =>
  question('GET /plugins/{plugin}/connections/{connectionId}/scope-configs/{scopeConfigId}', {
    path: { plugin, connectionId, scopeConfigId },
  })

export const projectsQuestion = (plugin: string, scopeConfigId: number) =>
  question('GET /plugins/{plugin}/scope-config/{scopeConfigId}/projects', { path: { plugin, scopeConfigId } })

/** Before anything is collected, this asks the source itself, so only admins get the names. */
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

/** Asks which names a pattern matches, a moment after it was typed. The previous result stays until then. */
export function useMatches(pattern: string, names: readonly string[]) {
  const [typed] = useDebouncedValue(pattern, 200)
  return useQuery({
    ...question('POST /v1/patterns/match', { body: { pattern: typed, names } }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })
}

/** For example `3 repositories`: the number of scopes, with the word that the source uses. */
export function scopesWord({ scope }: Pick<Source, 'scope'>, amount: number): string {
  const one = scope.title.toLowerCase()
  return counted(
    amount,
    one,
    one.replace(/y?$/, (end) => (end === 'y' ? 'ies' : 's')),
  )
}
