/** What a scope config says about issues and commit links, made ready to ask. */

import { compilePattern, optionalPattern, type Pattern } from '../../plugin-kit/patterns.ts'
import type { Settings } from '../../plugin-kit/plugin.ts'

interface TypeMapping {
  readonly standardType?: string | null
  /** By key of the status category: new, indeterminate, done. */
  readonly statusMappings?: Readonly<Record<string, { readonly standardStatus?: string | null }>> | null
}

const STANDARD_STATUS: Readonly<Record<string, string>> = { new: 'TODO', done: 'DONE' }
export const standardStatus = (category: string): string => STANDARD_STATUS[category] ?? 'IN_PROGRESS'

export type Rules = ReturnType<typeof issueRules>
export function issueRules(settings: Settings) {
  const types = new Map(Object.entries((settings.typeMappings ?? {}) as Record<string, TypeMapping>))
  const shaPattern = optionalPattern(settings.remotelinkCommitShaPattern, 'remotelinkCommitShaPattern')
  // Namespace, name of the repository and sha: a pattern with other groups says nothing.
  const repoPatterns = ((settings.remotelinkRepoPattern ?? []) as { regex?: string | null }[])
    .filter(({ regex }) => regex)
    .map(({ regex }) => compilePattern(regex as string, 'remotelinkRepoPattern'))
    .filter((pattern) => pattern.groupCount() === 3)
  const repoCommitIn = (url: string) => {
    for (const pattern of repoPatterns) {
      const [namespace, repoName, sha] = groupsOf(pattern, url) ?? []
      if (namespace && repoName && sha) return { namespace, repoName, sha }
    }
    return undefined
  }
  return {
    storyPointField: String(settings.storyPointField ?? ''),
    dueDateField: String(settings.dueDateField || 'duedate'),
    applicationType: String(settings.applicationType ?? ''),
    isMapped: (type: string): boolean => Boolean(types.get(type)?.standardType),
    standardType: (type: string): string => (types.get(type)?.standardType || type).toUpperCase(),
    standardStatus: (type: string, category: string): string =>
      types.get(type)?.statusMappings?.[category]?.standardStatus ?? standardStatus(category),
    repoCommitIn,
    commitShaIn: (url: string): string | undefined =>
      (shaPattern && groupsOf(shaPattern, url)?.[0]) || repoCommitIn(url)?.sha,
  }
}

/** The groups of the first match. */
function groupsOf(pattern: Pattern, text: string): string[] | undefined {
  const matcher = pattern.matcher(text)
  if (!matcher.find()) return undefined
  return Array.from({ length: matcher.groupCount() }, (_, index) => matcher.group(index + 1) ?? '')
}
