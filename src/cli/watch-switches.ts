import type { Database } from '../database/database.ts'
import type { Logger } from '../log.ts'
import { isTrafficInstalled, TRAFFIC_MISSING } from '../start/traffic-door.ts'
import { trafficSwitches } from '../system/traffic.ts'

/** Watches the switches of this database. Undefined if traffic switching is not installed; then it says so if there are any. */
export async function watchSwitches(database: Database, log: Logger, say: (line: string) => void) {
  if (isTrafficInstalled()) {
    const [{ engineOn }, { startWatch }] = await Promise.all([
      import('../../traffic/engine/connect.ts'),
      import('../../traffic/engine/watch.ts'),
    ])
    return startWatch(engineOn(database), (id, err) => log.warn({ err, switch: id }, 'cannot watch a switch'))
  }
  const some = await database.kysely.selectFrom(trafficSwitches.name).select('id').limit(1).executeTakeFirst()
  if (some) say(`nobody watches the traffic switches of this database. ${TRAFFIC_MISSING}`)
  return undefined
}
