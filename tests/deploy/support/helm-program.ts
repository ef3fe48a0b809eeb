/** Where Helm is kept once it is built, and whether `npm test` asks it. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export const HELM = 'v3.18.4'

function cacheFolder(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env
  if (process.platform === 'win32' && LOCALAPPDATA) return LOCALAPPDATA
  return XDG_CACHE_HOME || join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache')
}
export const folder = join(cacheFolder(), 'weir', `helm-${HELM}`)
export const program = join(folder, process.platform === 'win32' ? 'helm.exe' : 'helm')

/** The files that Helm reads, and those that its output is compared with. */
const READ = [
  'dashboards',
  'deploy/chart',
  'deploy/prometheus',
  'scripts/write-dashboards.ts',
  'src/cli',
  'src/config',
  'src/dashboards',
  'tests/deploy',
]
const root = join(import.meta.dirname, '../../..')
/** A hash of what Helm read when its tests were green the last time; `npm run check:chart` writes it. */
const checked = join(import.meta.dirname, '../helm-checked')

function hashOfRead(): string {
  const listed = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...READ], {
    cwd: root,
  })
  const files = String(listed.stdout ?? '')
    .split('\n')
    .filter(Boolean)
    .sort()
  const hash = createHash('sha256')
  for (const file of files) {
    // The chart has links to folders, whose files are listed where they are.
    const isFile = statSync(join(root, file), { throwIfNoEntry: false })?.isFile()
    if (!isFile || join(root, file) === checked) continue
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

/**
 * True if Helm is there, or if something that it reads has changed since its tests were green. To build Helm takes longer than any
 * test, and gives what it gave before if nothing has changed.
 */
export const isHelmAsked = (): boolean =>
  existsSync(program) || !existsSync(checked) || readFileSync(checked, 'utf8').trim() !== hashOfRead()

export const keepAsChecked = (): void => writeFileSync(checked, `${hashOfRead()}\n`)
