/** Follows alerts, together with any number of servers that do the same on this database. */
import { messageOf } from '../errors.ts'
import { type Repeated, repeat } from '../runner/repeat.ts'
import type { FollowContext } from './alert-service.ts'
import { makeDueDigests } from './digest.ts'
import { evaluateDue } from './evaluate.ts'
import { sendWaiting } from './send.ts'
import { tellOfSwitches } from './traffic.ts'

/** The end of a run is noticed this soon, whichever server it ran on. */
const LOOK_MS = 5000

export function followAlerts(context: FollowContext, lookMs = LOOK_MS): Repeated {
  const look = async () => {
    await evaluateDue(context)
    await makeDueDigests(context)
    await tellOfSwitches(context)
    await sendWaiting(context)
  }
  return repeat(lookMs, look, (error) =>
    context.log.error(`alerts continue after an error: ${messageOf(context.database.explain(error) ?? error)}`),
  )
}
