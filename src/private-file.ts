/** What is for its owner only: small files with a secret in them, and the folders of clones and logs. */
import { randomBytes } from 'node:crypto'
import { chmodSync, linkSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Undefined when there is none. */
export function readPrivate(file: string): string | undefined {
  try {
    const content = readFileSync(file, 'utf8').trim()
    chmodSync(file, 0o600)
    return content
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Complete before it has its name, and the first of two processes that start at once wins: both read the same. */
export function makePrivate(file: string, content: string): string {
  mkdirSync(dirname(file), { recursive: true })
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, `${content}\n`, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  return readPrivate(file) ?? ''
}

/** Clones of repositories, and logs of runs. Earlier versions made them readable for everybody on the machine. */
const OWN_FOLDERS = ['git', 'logs']

/** Closes those of the data folder to others, unless they are links or belong to somebody else. Gives those that it could not close. */
export function closeFolders(dataFolder: string): readonly string[] {
  return OWN_FOLDERS.map((name) => join(dataFolder, name)).filter((folder) => {
    const found = lstatSync(folder, { throwIfNoEntry: false })
    if (!found?.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) === 0) return false
    try {
      chmodSync(folder, 0o700)
      return false
    } catch {
      return true
    }
  })
}
