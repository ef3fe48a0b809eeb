/** Files and folders that only their owner may read: small files with a secret, and the folders of clones and logs. */
import { randomBytes } from 'node:crypto'
import { chmodSync, linkSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Reads a private file; undefined when there is none. */
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

/**
 * Creates a file that is complete before it gets its name. If two processes start at once, the first one wins and both read
 * the same content.
 */
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

/** The folders of clones and logs. Earlier versions made them readable for everybody on the machine. */
const OWN_FOLDERS = ['git', 'logs']

/**
 * Makes these folders of the data folder private, unless they are links or belong to another user. Returns those for which
 * that failed.
 */
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
