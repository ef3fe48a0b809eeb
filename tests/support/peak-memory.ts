import { existsSync, readFileSync } from 'node:fs'

/**
 * Returns the peak memory of a process so far. Linux tells it per process in `status`. `resourceUsage` would begin with the
 * peak of the parent process, which is far higher when the test shares its process with others.
 */
export function peakMegabytes(pid: number = process.pid): number {
  const status = `/proc/${pid}/status`
  const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(existsSync(status) ? readFileSync(status, 'utf8') : '') ?? []
  return Math.round(Number(kilobytes ?? process.resourceUsage().maxRSS) / 1024)
}
