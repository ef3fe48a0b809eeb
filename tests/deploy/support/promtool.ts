/** Prometheus' own tool, of Debian's package `prometheus`. */
import { spawnSync } from 'node:child_process'

/** Why it cannot be had here; undefined if it can. */
export const missing = spawnSync('promtool', ['--version']).status === 0 ? undefined : 'promtool is not installed'

export function promtool(folder: string, ...parameters: string[]) {
  const { status, stdout, stderr } = spawnSync('promtool', parameters, { cwd: folder, encoding: 'utf8' })
  return { status, text: `${stdout}${stderr}` }
}
