/** Who holds a lease: one run of one process of one machine. */
import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Same kernel and same process ids; where Linux does not tell, the host name has to do. */
const MACHINE = (() => {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
})()

/** Same kernel, perhaps in another container. */
export const isOfThisMachine = (leaseHolder: string): boolean => leaseHolder.split(/[#/]/)[0] === MACHINE.split('/')[0]

/** Names one run of one process. */
export const newLeaseHolder = (): string => `${MACHINE}#${process.pid}#${randomUUID()}`

/** Whether the holder surely runs no more, so that its lease need not run out: it was a process of this very machine. */
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
