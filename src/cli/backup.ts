import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Command } from 'commander'
import packageFile from '../../package.json' with { type: 'json' }
import { checkBackup, prepareForRestore, restoreBackup } from '../backup/restore.ts'
import { writeBackup } from '../backup/write-backup.ts'
import { counted } from '../counted.ts'
import { requirePlace } from '../user-file.ts'
import { FORCE } from './force.ts'
import { createRuntime, withDatabase } from './runtime.ts'

const MEGABYTE = 1024 ** 2

export const backup = new Command('backup')
  .description('write configuration and data to a file')
  .argument('<file>', 'where to, such as weir-2026-01-31.backup; it must not exist')
  .option(...FORCE)
  .addHelpText(
    'after',
    '\nServers may run meanwhile: the backup shows one moment. Secrets stay encrypted in it: keep a copy of the encryption key, but\nelsewhere. Logs of runs are not in it.',
  )
  .action(async (file: string, { force = false }: { force?: boolean }) => {
    const { version } = packageFile
    const target = resolve(file)
    await requirePlace(target, { force })
    const { rows, tables } = await withDatabase(
      createRuntime(),
      (database) => writeBackup(database, target, { version, force }),
      () => {},
    )
    const { size } = await stat(target)
    console.log(
      `${target}: ${counted(rows, 'row')} of ${counted(tables, 'table')}, ${(size / MEGABYTE).toFixed(1)} MB. Keep a copy of the encryption key elsewhere.`,
    )
  })

export const restore = new Command('restore')
  .description('fill an empty database from a backup')
  .argument('<file>', 'a backup')
  .option('--old-key <file>', 'the key that the backup was made with, if it was replaced since')
  .addHelpText(
    'after',
    '\nThe whole file is checked before anything is written, and what was written is compared with it. The database may be of another\nkind than the one that the backup came from. If the command is interrupted, run it again.',
  )
  .action(async (file: string, { oldKey }: { oldKey?: string }) => {
    const runtime = createRuntime()
    const { config } = runtime
    const place = { ...config, ...(oldKey !== undefined && { oldKeyFile: resolve(oldKey) }) }
    const checked = await checkBackup(resolve(file), place)
    await withDatabase(
      runtime,
      (database) => restoreBackup(database, checked, config),
      () => {},
      prepareForRestore,
    )
    const { rows, tables, header } = checked
    console.log(`Restored: ${counted(rows, 'row')} of ${counted(tables, 'table')}, as of ${header.madeAt}.`)
  })
