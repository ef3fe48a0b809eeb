import { createHash } from 'node:crypto'
import { type Database, trafficClaims } from '../core.ts'
import { TrafficError } from '../model/finding.ts'
import type { Plan } from '../model/plan.ts'
import { routesOf } from '../model/routes.ts'

interface Claim {
  readonly subject: string
  /** Wording for messages. */
  readonly what: string
}

const hashOf = (parts: readonly string[]): string => createHash('sha256').update(parts.join('\n')).digest('hex')

/** Claims the action of each route, and also the Service whose paths it moves, because another action could take the same paths. */
const claimsOf = (plan: Plan): readonly Claim[] =>
  routesOf(plan).flatMap(({ current: { cluster, namespace, ingress, service }, actionName }) => {
    const place = [cluster, namespace, ingress.name]
    return [
      { subject: hashOf([...place, actionName]), what: `action ${actionName} of Ingress ${ingress.name}` },
      {
        subject: hashOf([...place, 'service', service.name]),
        what: `Service ${service.name} of Ingress ${ingress.name}`,
      },
    ]
  })

/** Allows at most one switch per action and Service of an Ingress; the key of the table ensures it. Claims all routes or none. */
export async function claimRoutes({ kysely }: Database, plan: Plan, id: string): Promise<void> {
  const claims = claimsOf(plan)
  const subjects = claims.map(({ subject }) => subject)
  /** The subjects that this switch has already claimed; throws if another switch has claimed one. */
  const ownNow = async (): Promise<ReadonlySet<string>> => {
    const rows = await kysely.selectFrom(trafficClaims.name).selectAll().where('subject', 'in', subjects).execute()
    const owners = new Map(rows.map(({ subject, switch_id }) => [subject, switch_id]))
    for (const { subject, what } of claims) {
      const owner = owners.get(subject) ?? id
      if (owner !== id)
        throw new TrafficError(
          'conflict',
          `Switch ${owner} already works on ${what}. Finish it first, or give it up: npx weir traffic abort ${owner}`,
        )
    }
    return new Set(owners.keys())
  }
  const own = await ownNow()
  const now = new Date()
  const rows = subjects
    .filter((subject) => !own.has(subject))
    // Sorted, so that two processes that want the same claims never wait for each other.
    .toSorted()
    .map((subject) => ({ subject, switch_id: id, created_at: now, updated_at: now }))
  if (rows.length === 0) return
  try {
    await kysely.insertInto(trafficClaims.name).values(rows).execute()
  } catch (error) {
    await ownNow()
    throw error
  }
}

/** The switches that own an action: those prepared, and not cleaned up since. */
export const openSwitches = async ({ kysely }: Database): Promise<ReadonlySet<string>> =>
  new Set((await kysely.selectFrom(trafficClaims.name).select('switch_id').execute()).map(({ switch_id }) => switch_id))

/** A switch that was never prepared owns nothing: a target group of its name belongs to another switch. */
export const ownsRoutes = async (database: Database, id: string): Promise<boolean> =>
  (await openSwitches(database)).has(id)

export const releaseAction = async ({ kysely }: Database, id: string): Promise<void> => {
  await kysely.deleteFrom(trafficClaims.name).where('switch_id', '=', id).execute()
}
