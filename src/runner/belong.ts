import type { Database } from '../database/database.ts'
import { newLeaseHolder } from '../database/lease-holder.ts'
import type { Logger } from '../log.ts'
import { type Fence, now } from './fence.ts'
import type { Server } from './leases.ts'
import { type AboutServer, joinServers, type TellStandstill } from './servers.ts'

interface Belonging {
  readonly fence: Fence
  readonly leaseMs: number
  readonly about: AboutServer
  readonly tellStandstill: TellStandstill | undefined
  readonly log: Logger
  /** The line of the log when others took this process for dead. */
  readonly lost: string
  /** Ends what this process does under its old name. */
  endAll(): Promise<unknown>
}
interface Presence {
  readonly server: Server
  /** False when others took this process for dead and it has not joined again. */
  readonly isMember: boolean
  /** Sends a heartbeat. If others took this process for dead, ends its work, and then joins again under a new name. */
  beat(): Promise<void>
}

/** Makes this process one of the servers and workers of the database. Its fence is open as long as the others know that it is alive. */
export async function belong(database: Database, belonging: Belonging): Promise<Presence> {
  const { fence, leaseMs, about, tellStandstill, log, lost, endAll } = belonging
  const join = async (): Promise<Server> => {
    const leaseHolder = newLeaseHolder()
    return { leaseHolder, membership: await joinServers(database, leaseHolder, leaseMs, about, tellStandstill) }
  }
  fence.open(now(), leaseMs)
  let server = await join()
  let isMember = true
  return {
    get server() {
      return server
    },
    get isMember() {
      return isMember
    },
    async beat() {
      let asked = now()
      if (isMember && !(await server.membership.beat())) {
        log.error(lost)
        isMember = false
      }
      if (!isMember) {
        await endAll()
        asked = now()
        server = await join()
        isMember = true
      }
      fence.open(asked, leaseMs)
    },
  }
}
