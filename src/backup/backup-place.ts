/** The place in which `weir backup --to` keeps backups: a folder, or a bucket of an S3-compatible store. */
import type { Readable } from 'node:stream'

/** A backup to read from; it may be read several times. */
export interface BackupSource {
  /** The name by which the user knows it. */
  readonly name: string
  open(): Readable
}
/** Takes all bytes of a backup, to the end. */
export type Take = (packed: AsyncIterable<Buffer>) => Promise<void>

export interface BackupPlace {
  /** The path of a backup with this name, as the user would write it. */
  pathOf(name: string): string
  /** Refuses a name that could not be written, before any work is done. */
  check(name: string): Promise<void>
  /** Names of the backups in this place, the newest first. Other files are ignored. */
  list(): Promise<string[]>
  /** Writes a backup whole or not at all. Returns the result of `produce`, and the number of bytes that were written. */
  write<Result>(name: string, produce: (take: Take) => Promise<Result>): Promise<{ result: Result; size: number }>
  source(name: string): BackupSource
  remove(name: string): Promise<void>
  /** Removes what a killed command left unfinished more than a day ago. */
  tidy(now: Date): Promise<void>
  close(): Promise<void>
}

export const DAY_MS = 86_400_000
