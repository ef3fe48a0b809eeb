/** Small files with a secret in them, made once and for their owner only. */
import { randomBytes } from 'node:crypto'
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

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
