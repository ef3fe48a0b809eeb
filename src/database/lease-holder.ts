/** Names the holder of a lease: one run of a process on a machine. */
import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Identifies the kernel and the namespace of process ids. On systems other than Linux the host name must do. */
const MACHINE = (() => {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
})()

/** True for the same kernel, perhaps in another container. */
export const isOfThisMachine = (leaseHolder: string): boolean => leaseHolder.split(/[#/]/)[0] === MACHINE.split('/')[0]

/** Makes a unique name for this run of the process. */
export const newLeaseHolder = (): string => `${MACHINE}#${process.pid}#${randomUUID()}`

/**
 * True when the holder certainly does not run any more, so that its lease need not time out. This can be known only of
 * processes on this machine.
 */
export function isLeaseHolderGone(leaseHolder: string): boolean {
  const [machine, pid] = leaseHolder.split('#')
  if (machine !== MACHINE) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
