import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from './support/cli.ts'

// A disk that is really full: a file system of 20 MB. Only root may mount one, and not in every container.
const disk = mkdtempSync(join(tmpdir(), 'weir-full-disk-'))
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', disk]).status === 0

it.skipIf(!mounted)('a full disk: one line, code 1, nothing half made', async () => {
  try {
    const { code, errors } = await runCli(['up'], { DATA_FOLDER: join(disk, 'weir'), PORT: '0' })
    expect(errors).toBe(
      `weir: The disk that holds ${join(disk, 'weir')} is full: free some space (a new database takes 50 MB), or set DATA_FOLDER to another disk.\n`,
    )
    expect(code).toBe(1)
    expect(readdirSync(join(disk, 'weir'))).toEqual([])
  } finally {
    spawnSync('umount', [disk])
    rmdirSync(disk)
  }
})
