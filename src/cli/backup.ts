import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import packageFile from '../../package.json' with { type: 'json' }
import { backupName } from '../backup/backup-name.ts'
import type { BackupPlace, BackupSource } from '../backup/backup-place.ts'
import { folderPlace, namedFile } from '../backup/folder-place.ts'
import { rehearse } from '../backup/rehearse.ts'
import { checkBackup, prepareForRestore, type RestorePlace, restoreBackup } from '../backup/restore.ts'
import { type Keeping, letGo } from '../backup/retention.ts'
import { isS3, namedObject, s3Place } from '../backup/s3/place.ts'
import { streamBackup, type Written, writeBackup } from '../backup/write-backup.ts'
import { counted } from '../basics/counted.ts'
import { requirePlace } from '../basics/user-file.ts'
import type { Config } from '../config/config.ts'
import { UserError } from '../errors.ts'
import { FORCE } from './force.ts'
import { createRuntime, type Runtime, withDatabase } from './runtime.ts'

const MEGABYTE = 1024 ** 2

interface Options extends Keeping {
  readonly force?: true
  readonly to?: string
  readonly keep?: number
  readonly keepDays?: number
  readonly rehearse?: true
  readonly database?: string
  readonly oldKey?: string
}

/** The keys with which a backup may be opened. */
const keysOf = (config: Config, oldKey: string | undefined): RestorePlace =>
  oldKey === undefined ? config : { ...config, oldKeyFile: resolve(oldKey) }
const OLD_KEY = 'the key that the backup was made with, if it was replaced since'

function natural(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a number from 1.')
}

export const backup = new Command('backup')
  .description('write configuration and data to a file, or try whether a backup can be restored')
  .argument('[file]', 'where to, such as weir-2026-01-31.backup; it must not exist. With --rehearse: the backup to try')
  .option(...FORCE)
  .option('--to <place>', 'a folder, or s3://bucket/prefix: writes a new backup there, named after the time')
  .option('--keep <number>', 'with --to: keep so many backups there, and remove older ones', natural)
  .option('--keep-days <days>', 'with --to: keep backups of so many days, and remove older ones', natural)
  .option('--rehearse', 'restore the backup into an empty database, compare all tables, and empty the database again')
  .option('--database <url>', 'the empty database for --rehearse; without it, a temporary embedded one')
  .option('--old-key <file>', `with --rehearse: ${OLD_KEY}`)
  .addHelpText(
    'after',
    '\nServers may run meanwhile: the backup shows one moment. Secrets stay encrypted in it: keep a copy of the encryption key, but\nelsewhere. Logs of runs are not in it. With --keep and --keep-days, a backup stays as long as one of them keeps it.',
  )
  .action(async (file: string | undefined, options: Options) => {
    requireSense(file, options)
    const runtime = createRuntime()
    if (options.to !== undefined) return backUpTo(runtime, options.to, options)
    if (options.rehearse) return rehearseNamed(runtime, file as string, options)
    return backUp(runtime, resolve(file as string), options.force)
  })

function requireSense(
  file: string | undefined,
  { to, keep, keepDays, rehearse, database, oldKey, force }: Options,
): void {
  const wrong =
    (file === undefined && to === undefined && 'Name a file, or a place with --to.') ||
    (file !== undefined && to !== undefined && 'Name a file or --to, not both: with --to the name is given.') ||
    (to === undefined && (keep ?? keepDays) !== undefined && '--keep and --keep-days need --to.') ||
    (to !== undefined && force && '--force is not for --to: each backup there has a name of its own.') ||
    (database !== undefined &&
      !rehearse &&
      '--database is for --rehearse. The database to back up is that of DB_URL.') ||
    (oldKey !== undefined &&
      (!rehearse || to !== undefined) &&
      '--old-key is for --rehearse FILE. A new backup has the present key.') ||
    (file !== undefined && !rehearse && isS3(file) && `Use --to ${file}: a backup in a bucket is named after its time.`)
  if (wrong) throw new UserError(wrong)
}

const summary = (path: string, { rows, tables }: Written, size: number) =>
  `${path}: ${counted(rows, 'row')} of ${counted(tables, 'table')}, ${(size / MEGABYTE).toFixed(1)} MB. Keep a copy of the encryption key elsewhere.`

async function backUp(runtime: Runtime, target: string, force = false): Promise<void> {
  const { version } = packageFile
  const { signal } = runtime
  await requirePlace(target, { force })
  const written = await withDatabase(
    runtime,
    (database) => writeBackup(database, target, { version, force, signal }),
    () => {},
  )
  const { size } = await stat(target)
  console.log(summary(target, written, size))
}

async function backUpTo(runtime: Runtime, to: string, options: Options): Promise<void> {
  const { config } = runtime
  const place = isS3(to) ? s3Place(to, config) : folderPlace(resolve(to))
  try {
    const now = new Date()
    const name = backupName(now)
    await place.check(name)
    const { key } = await makeIn(place, name, now, runtime)
    // Rehearsed before anything is removed: a backup that cannot be restored replaces nothing.
    if (options.rehearse) await rehearseFrom(config, place.source(name), options.database)
    await place.tidy(now)
    tellLetGo(await letGo(place, { count: options.keep, days: options.keepDays }, now, key))
  } finally {
    await place.close()
  }
}

async function makeIn(place: BackupPlace, name: string, madeAt: Date, runtime: Runtime): Promise<Written> {
  const { version } = packageFile
  const { signal } = runtime
  const { result: written, size } = await withDatabase(
    runtime,
    (database) => place.write(name, (take) => streamBackup(database, take, { version, madeAt, signal })),
    () => {},
  )
  console.log(summary(place.pathOf(name), written, size))
  return written
}

function tellLetGo({ removed, foreign, kept }: Awaited<ReturnType<typeof letGo>>): void {
  if (removed.length > 0) {
    console.log(`Removed ${counted(removed.length, 'old backup')}: ${removed.join(', ')}. ${kept} stay.`)
  }
  if (foreign.length > 0) {
    console.log(
      `${counted(foreign.length, 'old backup')} with another encryption key, or that cannot be read, stay: ${foreign.join(', ')}. Remove them yourself if they are yours.`,
    )
  }
}

async function rehearseNamed({ config }: Runtime, target: string, { database, oldKey }: Options): Promise<void> {
  await withNamed(config, target, (source) => rehearseFrom(keysOf(config, oldKey), source, database))
}

async function rehearseFrom(place: RestorePlace, source: BackupSource, url: string | undefined): Promise<void> {
  const checked = await checkBackup(source, place)
  await rehearse(checked, place, url)
  const { rows, tables, header } = checked
  console.log(
    `${source.name} can be restored: ${counted(rows, 'row')} of ${counted(tables, 'table')}, as of ${header.madeAt}, were restored into an empty database, and counts and checksums of all tables are equal.`,
  )
}

async function withNamed<Result>(
  config: Config,
  target: string,
  body: (source: BackupSource) => Promise<Result>,
): Promise<Result> {
  if (!isS3(target)) return body(await namedFile(resolve(target)))
  const object = namedObject(target, config)
  try {
    return await body(object)
  } finally {
    await object.close()
  }
}

export const restore = new Command('restore')
  .description('fill an empty database from a backup')
  .argument('<file>', 'a backup: a file, or s3://bucket/prefix/name')
  .option('--old-key <file>', OLD_KEY)
  .addHelpText(
    'after',
    '\nThe whole file is checked before anything is written, and what was written is compared with it. The database may be of another\nkind than the one that the backup came from. If the command is interrupted, run it again.',
  )
  .action(async (file: string, { oldKey }: { oldKey?: string }) => {
    const runtime = createRuntime()
    const { config } = runtime
    const place = keysOf(config, oldKey)
    await withNamed(config, file, async (source) => {
      const checked = await checkBackup(source, place)
      await withDatabase(
        runtime,
        (database) => restoreBackup(database, checked, config),
        () => {},
        prepareForRestore,
      )
      const { rows, tables, header } = checked
      console.log(`Restored: ${counted(rows, 'row')} of ${counted(tables, 'table')}, as of ${header.madeAt}.`)
    })
  })
