/** A disk that is really full: a file system of 20 MB. Only root may mount one, and some containers forbid it. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  readonly folder: string
  /** Works even while programs still have files open there. */
  release(): void
}

export function mountSmallDisk(): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'weir-small-disk-'))
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', folder]).status === 0
  const release = () => {
    if (isMounted) spawnSync('umount', ['-l', folder])
    rmdirSync(folder)
  }
  if (isMounted) return { folder, release }
  release()
  return undefined
}

/** Returns whether this machine lets us mount a file system. */
export const mayMount = (): boolean => {
  const disk = mountSmallDisk()
  disk?.release()
  return disk !== undefined
}

/** Fills the disk to the last byte. Returns a function that frees it. */
export function fillDisk(folder: string): () => void {
  const path = join(folder, 'filler')
  const file = openSync(path, 'w')
  for (const size of [1 << 20, 1 << 12, 1]) {
    try {
      for (const block = Buffer.alloc(size); ; ) writeSync(file, block)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
  closeSync(file)
  return () => rmSync(path)
}
