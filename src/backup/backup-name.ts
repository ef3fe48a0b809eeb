/** Backups that are made on a schedule are named after their time: `weir-backup-20260131T100000Z.backup`. */
const NAME = /^weir-backup-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/
/** All of these names begin with this. */
export const NAME_START = 'weir-backup-'

export const backupName = (at: Date): string =>
  `${NAME_START}${at.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z.backup`

/** Undefined if it is not such a name. */
export function momentOf(name: string): Date | undefined {
  const [, ...parts] = NAME.exec(name) ?? []
  if (parts.length === 0) return undefined
  const [year, month, day, hour, minute, second] = parts
  const moment = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(moment.getTime()) ? undefined : moment
}

/** The backups among these names, the newest first. */
export const backupNames = (names: readonly string[]): string[] =>
  names
    .filter((name) => momentOf(name))
    .sort()
    .reverse()
