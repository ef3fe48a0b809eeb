/** Prometheus' own tool, from Debian's package `prometheus`. */
import { spawnSync } from 'node:child_process'

/** The reason why promtool is not available here, or undefined. */
export const missing = spawnSync('promtool', ['--version']).status === 0 ? undefined : 'promtool is not installed'

export function promtool(folder: string, ...parameters: string[]) {
  const { status, stdout, stderr } = spawnSync('promtool', parameters, { cwd: folder, encoding: 'utf8' })
  return { status, text: `${stdout}${stderr}` }
}
