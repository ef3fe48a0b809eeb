/** Where `weir backup --to` keeps backups: a folder, or a bucket of an S3-compatible store. */
import type { Readable } from 'node:stream'

/** Where a backup is read from; it may be read several times. */
export interface BackupSource {
  /** As its user calls it. */
  readonly name: string
  open(): Readable
}
/** Takes the bytes of a backup to their end. */
export type Take = (packed: AsyncIterable<Buffer>) => Promise<void>

export interface BackupPlace {
  /** What its user would call a backup of this name. */
  pathOf(name: string): string
  /** Refuses what could not be written, before any work is done. */
  check(name: string): Promise<void>
  /** Names of backups that stand here, the newest first. Other files are not looked at. */
  list(): Promise<string[]>
  /** Whole or not at all; gives what `produce` gives, and the bytes that were written. */
  write<Result>(name: string, produce: (take: Take) => Promise<Result>): Promise<{ result: Result; size: number }>
  source(name: string): BackupSource
  remove(name: string): Promise<void>
  /** Removes what was left unfinished more than a day ago by a command that was killed. */
  tidy(now: Date): Promise<void>
  close(): Promise<void>
}

export const DAY_MS = 86_400_000
