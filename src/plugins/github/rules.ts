/** What a scope config means for extraction and conversion. */
import { compilePattern, deliveryRules, matches, optionalPattern, type Pattern } from '../../plugin-kit/patterns.ts'
import type { Settings } from '../../plugin-kit/plugin.ts'

export type Rules = ReturnType<typeof prepareRules>

export function prepareRules(settings: Settings) {
  const pattern = (field: string) => optionalPattern(settings[field], field)
  const lastMatch = (field: string) => {
    const compiled = pattern(field)
    return (labels: readonly string[]): string => labels.findLast((label) => matches(compiled, label)) ?? ''
  }
  const types = [
    ['REQUIREMENT', pattern('issueTypeRequirement')],
    ['BUG', pattern('issueTypeBug')],
    ['INCIDENT', pattern('issueTypeIncident')],
  ] as const
  const environment = pattern('envNamePattern')
  return {
    ...deliveryRules(settings),
    severityOf: lastMatch('issueSeverity'),
    priorityOf: lastMatch('issuePriority'),
    componentOf: lastMatch('issueComponent'),
    pullRequestTypeOf: lastMatch('prType'),
    pullRequestComponentOf: lastMatch('prComponent'),
    /** The last label that matches decides; one that matches several types counts as the first listed. */
    issueTypeOf(labels: readonly string[]): string {
      const last = labels.findLast((label) => types.some(([, type]) => matches(type, label)))
      return types.find(([, type]) => last !== undefined && matches(type, last))?.[0] ?? ''
    },
    isProduction: (name: string): boolean => matches(environment, name),
    closingPattern: closingPatterns(settings.prBodyClosePattern),
    isExcluded: excludedLogins(process.env.GITHUB_PR_EXCLUDELIST ?? ''),
  }
}

/** The pattern names the repository by `%s`, so it is compiled once a repository. */
function closingPatterns(source: string | null | undefined): (fullName: string) => Pattern | null {
  const compile = (fullName: string) =>
    compilePattern(
      (source ?? '').replace('%s', () => fullName),
      'prBodyClosePattern',
    )
  if (!source) return () => null
  const compiled = new Map([['owner/repo', compile('owner/repo')]])
  return (fullName) => {
    const found = compiled.get(fullName) ?? compile(fullName)
    compiled.set(fullName, found)
    return found
  }
}

/** Comma-separated logins, in any letter case, whose pull requests, reviews and comments are left out. */
function excludedLogins(list: string): (person: { login: string } | null | undefined) => boolean {
  const logins = new Set(list.split(',').flatMap((login) => login.trim().toLowerCase() || []))
  return (person) => logins.size > 0 && logins.has((person?.login ?? '').toLowerCase())
}
