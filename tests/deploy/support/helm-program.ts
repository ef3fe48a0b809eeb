/** Where Helm is kept once it is built, and whether `npm test` asks it. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
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

/**
 * True if Helm is there, or if something that it reads differs from the commit before the last one. To build Helm takes longer
 * than any test, and gives what it gave before if nothing has changed.
 */
export function isHelmAsked(): boolean {
  if (existsSync(program)) return true
  const git = (...parameters: string[]) => spawnSync('git', [...parameters, '--', ...READ], { cwd: root })
  const isAsBefore = git('diff', '--quiet', 'HEAD^').status === 0
  return !isAsBefore || git('status', '--porcelain').stdout.length > 0
}
