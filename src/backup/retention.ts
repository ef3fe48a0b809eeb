/** Decides which backups to remove after a new one was made. */
import { momentOf } from './backup-name.ts'
import { type BackupPlace, DAY_MS } from './backup-place.ts'
import { readHeader } from './read-backup.ts'

/** A backup stays as long as one of the two keeps it; without either, all stay. */
export interface Keeping {
  readonly count?: number | undefined
  readonly days?: number | undefined
}

/** `names` begins with the newest, which always stays. */
export function expired(names: readonly string[], { count, days }: Keeping, now: Date): string[] {
  if (count === undefined && days === undefined) return []
  const since = days === undefined ? Number.POSITIVE_INFINITY : now.getTime() - days * DAY_MS
  const age = (name: string) => momentOf(name)?.getTime() ?? Number.POSITIVE_INFINITY
  return names.slice(Math.max(count ?? 0, 1)).filter((name) => age(name) < since)
}

interface LetGo {
  readonly removed: readonly string[]
  /** Made with another key, and so perhaps by another installation, or unreadable. */
  readonly foreign: readonly string[]
  readonly kept: number
}

export async function letGo(place: BackupPlace, keeping: Keeping, now: Date, ownKey: string): Promise<LetGo> {
  const names = await place.list()
  const removed: string[] = []
  const foreign: string[] = []
  for (const name of expired(names, keeping, now)) {
    const header = await readHeader(place.source(name))
    const isOwn = header && (header.key === '' || header.key === ownKey)
    if (isOwn) await place.remove(name)
    ;(isOwn ? removed : foreign).push(name)
  }
  return { removed, foreign, kept: names.length - removed.length }
}
