import { existsSync, readFileSync } from 'node:fs'

/**
 * The most memory that a process held so far. Linux keeps it by process in `status`; `resourceUsage` would begin with the
 * peak of whoever started the process, which for a test that shares its process with others is far above ours.
 */
export function peakMegabytes(pid: number = process.pid): number {
  const status = `/proc/${pid}/status`
  const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(existsSync(status) ? readFileSync(status, 'utf8') : '') ?? []
  return Math.round(Number(kilobytes ?? process.resourceUsage().maxRSS) / 1024)
}
