import { execFileSync } from 'node:child_process'
import { mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)

/** A folder with a revision of the repository, which uses the same packages. Whoever asks for it removes it. */
export function copyOf(revision: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-planted-'))
  execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', root, folder])
  execFileSync('git', ['checkout', '--quiet', revision], { cwd: folder })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}
