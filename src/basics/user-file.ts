/**
 * Writes files to places that the user of a command names. They never replace another file unless told to, and are complete
 * before they get their name.
 */
import { constants, existsSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { access, mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf, UserError } from '../errors.ts'

interface Writing {
  /** True when an existing file may be replaced. */
  readonly force?: boolean
  /** True when only the owner may read the file. */
  readonly isPrivate?: boolean
}

/** Undefined means standard output, which users can also write as `-`. */
export const fileNamed = (name: string | undefined): string | undefined => (name === '-' ? undefined : name)

/** Refuses `-`, since no user means a file of this name. */
function requireName(name: string): void {
  if (name === '-') throw new UserError('This is not written to standard output (-): name a file or a folder.')
}

/** The status of a file or folder; undefined when there is none. */
const found = (file: string): Stats | undefined => statSync(file, { throwIfNoEntry: false })

/** Checks that a file can be written there before any work is done for it. */
export async function requirePlace(file: string, { force = false }: Writing = {}): Promise<void> {
  requireName(file)
  const there = found(file)
  if (there?.isDirectory()) {
    throw new UserError(`${file} is a folder: name a new file in it.`)
  }
  if (there?.isFile() && !force) {
    throw new UserError(`${file} exists already: choose another name, or use --force to replace it.`)
  }
  const folder = dirname(file)
  if (!found(folder)) throw new UserError(`There is no folder ${folder}: create it first, or choose another place.`)
  if (!found(folder)?.isDirectory()) throw new UserError(`${folder} is not a folder: choose another place.`)
  try {
    await access(folder, constants.W_OK)
  } catch (error) {
    throw cannotWrite(file, error)
  }
}

const FULL = new Set(['ENOSPC', 'EDQUOT'])
const cannotWrite = (file: string, error: unknown) =>
  new UserError(
    FULL.has((error as NodeJS.ErrnoException).code ?? '')
      ? `${file} cannot be written: its disk is full. Free some space, or choose another place. Nothing is left of it, and other files are as before.`
      : `${file} cannot be written: ${messageOf(error)}. Choose another place.`,
    { cause: error },
  )
/** True for an error of the file system, and not of the content. */
const isOfDisk = (error: unknown) => (error as NodeJS.ErrnoException).syscall !== undefined

/** Writes a file safely. `fill` writes the content to the path that it is given; its result is returned. */
export async function writeUserFile<Result>(
  file: string,
  fill: (draft: string) => Promise<Result>,
  writing: Writing = {},
): Promise<Result> {
  await requirePlace(file, writing)
  const there = found(file)
  // A pipe or a terminal has no content that could be overwritten.
  if (there && !there.isFile()) return fill(file)
  // Writing to a link means to replace the file that it points to.
  const target = there ? realpathSync(file) : file
  const draft = `${target}.part`
  try {
    await (await open(draft, 'w', writing.isPrivate ? 0o600 : 0o666)).close()
    const result = await fill(draft)
    await settle(draft)
    if (!writing.force) await requirePlace(file)
    await rename(draft, target)
    return result
  } catch (error) {
    await rm(draft, { force: true })
    throw isOfDisk(error) ? cannotWrite(file, error) : error
  }
}

/** Flushes the file to disk before it gets its name. */
async function settle(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  await handle.sync()
  await handle.close()
}

export const writeUserText = (file: string, text: string, writing?: Writing): Promise<void> =>
  writeUserFile(file, (draft) => writeFile(draft, text), writing)

/** Writes texts by their paths in a folder. If one would replace a file with other content, none is written. */
export async function writeUserFolder(
  folder: string,
  texts: ReadonlyMap<string, string>,
  { force = false }: Writing = {},
): Promise<void> {
  requireName(folder)
  const there = found(folder)
  if (there && !there.isDirectory()) throw new UserError(`${folder} is a file: name a folder.`)
  const changed = [...texts].filter(([path, text]) => !isThere(join(folder, path), text))
  const lost = changed.map(([path]) => join(folder, path)).filter((file) => existsSync(file))
  if (lost.length > 0 && !force) {
    const others = lost.length > 1 ? ` So do ${lost.length - 1} more.` : ''
    throw new UserError(
      `${lost[0]} exists already, with other content.${others} Choose another folder, or use --force to replace the files.`,
    )
  }
  for (const [path, text] of changed) {
    const file = join(folder, path)
    try {
      await mkdir(dirname(file), { recursive: true })
    } catch (error) {
      throw cannotWrite(file, error)
    }
    await writeUserText(file, text, { force: true })
  }
}

const isThere = (file: string, text: string) => found(file)?.isFile() === true && readFileSync(file, 'utf8') === text
