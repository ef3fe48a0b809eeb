import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { requirePlace, writeUserFile } from '../basics/user-file.ts'
import { UserError } from '../errors.ts'
import { backupNames, momentOf } from './backup-name.ts'
import { type BackupPlace, type BackupSource, DAY_MS, type Take } from './backup-place.ts'

export const fileSource = (file: string): BackupSource => ({ name: file, open: () => createReadStream(file) })

export const writeFileAt = <Result>(
  file: string,
  force: boolean,
  produce: (take: Take) => Promise<Result>,
): Promise<Result> =>
  writeUserFile(file, (draft) => produce((packed) => pipeline(packed, createWriteStream(draft))), {
    isPrivate: true,
    force,
  })

const UNFINISHED = '.part'

export function folderPlace(folder: string): BackupPlace {
  const pathOf = (name: string) => join(folder, name)
  return {
    pathOf,
    check: (name) => requirePlace(pathOf(name)),
    list: async () => backupNames(await readdir(folder)),
    async write(name, produce) {
      const result = await writeFileAt(pathOf(name), false, produce)
      return { result, size: (await stat(pathOf(name))).size }
    },
    source: (name) => fileSource(pathOf(name)),
    remove: (name) => rm(pathOf(name)),
    async tidy(now) {
      for (const name of await readdir(folder)) {
        if (!name.endsWith(UNFINISHED) || !momentOf(name.slice(0, -UNFINISHED.length))) continue
        const { mtimeMs } = await stat(pathOf(name))
        if (mtimeMs < now.getTime() - DAY_MS) await rm(pathOf(name), { force: true })
      }
    },
    close: async () => {},
  }
}

/** A backup that is named by its path. A folder is no backup, but the newest backup in it may be meant. */
export async function namedFile(file: string): Promise<BackupSource> {
  const there = await stat(file).catch(() => undefined)
  if (!there?.isDirectory()) return fileSource(file)
  const [newest] = backupNames(await readdir(file))
  const hint = newest ? `name a backup in it; the newest is ${join(file, newest)}` : 'name a backup, which is a file'
  throw new UserError(`${file} is a folder: ${hint}.`)
}
