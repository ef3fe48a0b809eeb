/** Prepares the rules of a scope config for extraction and conversion. */
import { codeHostRules, type Settings, taskConfig } from '../../plugin-kit/index.ts'

export type Rules = ReturnType<typeof prepareRules>

export function prepareRules(settings: Settings) {
  return {
    ...codeHostRules(settings),
    isExcluded: excludedLogins(taskConfig().githubExcludedLogins),
  }
}

/** Comma-separated logins, in any letter case, whose pull requests, reviews and comments are left out. */
function excludedLogins(list: string): (person: { login: string } | null | undefined) => boolean {
  const logins = new Set(list.split(',').flatMap((login) => login.trim().toLowerCase() || []))
  return (person) => logins.size > 0 && logins.has((person?.login ?? '').toLowerCase())
}
