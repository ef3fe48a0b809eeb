import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)

/** A folder with the files of a commit. It shares our packages if it needs the same ones; otherwise its programs install their own. */
export function copyOfRevision(revision: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-revision-'))
  const commit = execFileSync('git', ['rev-parse', `${revision}^{commit}`], { cwd: root, encoding: 'utf8' }).trim()
  execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', root, folder])
  execFileSync('git', ['checkout', '--quiet', commit], { cwd: folder })
  const packages = (place: string) => readFileSync(join(place, 'package-lock.json'), 'utf8')
  if (packages(folder) === packages(root))
    for (const each of ['node_modules', 'web/node_modules'].filter((name) => existsSync(join(root, name))))
      symlinkSync(join(root, each), join(folder, each))
  return folder
}
