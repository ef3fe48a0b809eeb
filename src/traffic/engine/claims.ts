import { createHash } from 'node:crypto'
import type { Database } from '../../database/database.ts'
import { TrafficError } from '../model/finding.ts'
import type { Plan } from '../model/plan.ts'
import { trafficClaims } from './tables.ts'

const subjectOf = ({ current, actionName }: Plan): string =>
  createHash('sha256')
    .update([current.cluster, current.namespace, current.ingress.name, actionName].join('\n'))
    .digest('hex')

/** At most one switch per cluster, namespace, Ingress and action: the key of the table sees to it. */
export async function claimAction({ kysely }: Database, plan: Plan, id: string): Promise<void> {
  const subject = subjectOf(plan)
  const owner = () =>
    kysely.selectFrom(trafficClaims.name).selectAll().where('subject', '=', subject).executeTakeFirst()
  const now = new Date()
  let claimed = await owner()
  if (claimed === undefined) {
    try {
      await kysely
        .insertInto(trafficClaims.name)
        .values({ subject, switch_id: id, created_at: now, updated_at: now })
        .execute()
      return
    } catch (error) {
      claimed = await owner()
      if (claimed === undefined) throw error
    }
  }
  if (claimed.switch_id !== id) {
    throw new TrafficError(
      'conflict',
      `Switch ${claimed.switch_id} already works on action ${plan.actionName} of Ingress ${plan.current.ingress.name}. Finish it first.`,
    )
  }
}

/** The switches that own an action: prepared, and not cleaned up since. */
export const openSwitches = async ({ kysely }: Database): Promise<ReadonlySet<string>> =>
  new Set((await kysely.selectFrom(trafficClaims.name).select('switch_id').execute()).map(({ switch_id }) => switch_id))

export const releaseAction = async ({ kysely }: Database, id: string): Promise<void> => {
  await kysely.deleteFrom(trafficClaims.name).where('switch_id', '=', id).execute()
}
