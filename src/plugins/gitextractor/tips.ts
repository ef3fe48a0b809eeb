import type { Commit } from './commit-log.ts'

export interface Tips {
  add(commit: Commit): void
  /** Commits from which all that was added, and all that could be reached before, can be reached. */
  list(): string[]
}

/** Follows the ends of a history while its commits pass by, in any order, without remembering them. */
export function followTips(known: readonly string[]): Tips {
  const tips = new Set(known)
  /** Parents of commits that have passed, while they have not passed themselves. */
  const awaited = new Set<string>()
  return {
    add({ sha, parents }) {
      if (!awaited.delete(sha)) tips.add(sha)
      for (const parent of parents) if (!tips.delete(parent)) awaited.add(parent)
    },
    list: () => [...tips],
  }
}
