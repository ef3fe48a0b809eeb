/** What a scope config says about issues and commit links, made ready to ask. */

import { compilePattern, optionalPattern, type Pattern } from '../../plugin-kit/patterns.ts'
import type { Settings } from '../../plugin-kit/plugin.ts'
import { isCommitPattern, type RepoCommit, repoCommitIn } from './commit-links.ts'

interface TypeMapping {
  readonly standardType?: string | null
  /** By key of the status category: new, indeterminate, done. */
  readonly statusMappings?: Readonly<Record<string, { readonly standardStatus?: string | null }>> | null
}

const ofType = (standardType: string, ...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { standardType }]))

/** As Jira Software and Jira Service Management call them out of the box. */
export const STANDARD_TYPES: Readonly<Record<string, TypeMapping>> = {
  ...ofType('REQUIREMENT', 'Story', 'Feature', 'New Feature', 'Improvement'),
  ...ofType('BUG', 'Bug', 'Defect'),
  ...ofType('INCIDENT', 'Incident', '[System] Incident', 'Production Incident', 'Outage'),
}

const STANDARD_STATUS: Readonly<Record<string, string>> = { new: 'TODO', done: 'DONE' }
export const standardStatus = (category: string): string => STANDARD_STATUS[category] ?? 'IN_PROGRESS'

export type Rules = ReturnType<typeof issueRules>
export function issueRules(settings: Settings) {
  const types = new Map(Object.entries((settings.typeMappings ?? {}) as Record<string, TypeMapping>))
  const shaPattern = optionalPattern(settings.remotelinkCommitShaPattern, 'remotelinkCommitShaPattern')
  const repoPatterns = ((settings.remotelinkRepoPattern ?? []) as { regex?: string | null }[])
    .filter(({ regex }) => regex)
    .map(({ regex }) => compilePattern(regex as string, 'remotelinkRepoPattern'))
    .filter(isCommitPattern)
  const repoCommitOf = (url: string): RepoCommit | undefined =>
    repoPatterns.map((pattern) => repoCommitIn(pattern, url)).find((found) => found !== undefined)
  return {
    storyPointField: String(settings.storyPointField ?? ''),
    dueDateField: String(settings.dueDateField || 'duedate'),
    applicationType: String(settings.applicationType ?? ''),
    isMapped: (type: string): boolean => Boolean(types.get(type)?.standardType),
    standardType: (type: string): string => (types.get(type)?.standardType || type).toUpperCase(),
    standardStatus: (type: string, category: string): string =>
      types.get(type)?.statusMappings?.[category]?.standardStatus ?? standardStatus(category),
    repoCommitOf,
    /** Whether a link can name a commit at all. */
    findsCommits: Boolean(shaPattern) || repoPatterns.length > 0,
    commitShaIn: (url: string): string | undefined =>
      (shaPattern && firstGroup(shaPattern, url)) || repoCommitOf(url)?.commit_sha,
  }
}

function firstGroup(pattern: Pattern, text: string): string | undefined {
  const matcher = pattern.matcher(text)
  return matcher.find() && matcher.groupCount() > 0 ? (matcher.group(1) ?? undefined) : undefined
}
