import type { Database } from '../../database/database.ts'
import { type Effect, type EffectContext, liveCurrent } from '../effects/effect.ts'
import { TrafficError } from '../model/finding.ts'
import { backendsOf } from '../model/manifests.ts'
import type { Plan } from '../model/plan.ts'
import { openSwitches } from './claims.ts'
import { listSwitches, type SwitchRow } from './store.ts'

const subject = ({ current }: Plan): string => [current.cluster, current.namespace, current.ingress.name].join('\n')

const planIn = ({ plan }: SwitchRow): Plan | undefined => {
  try {
    return JSON.parse(plan) as Plan
  } catch {
    return undefined
  }
}

/** Deleting an Ingress takes everything along that stands on it: other switches, and paths of other Services. */
export async function refuseDeletion(database: Database, id: string, context: EffectContext): Promise<void> {
  const { plan } = context
  const open = await openSwitches(database)
  const others = (await listSwitches(database)).filter((row) => {
    const other = planIn(row)
    return row.id !== id && open.has(row.id) && other?.current !== undefined && subject(other) === subject(plan)
  })
  const live = await liveCurrent(context)
  const own = new Set([plan.current.service.name, plan.actionName])
  const strangers = live === undefined ? [] : backendsOf(live).flatMap(({ backend }) => backend.service?.name ?? [])
  const services = [...new Set(strangers)].filter((name) => !own.has(name))
  const reasons = [
    ...others.map(({ id: other, state }) => `switch ${other} (${state}) stands on it`),
    ...services.map((name) => `it also has paths of Service ${name}`),
  ]
  if (reasons.length === 0) return
  throw new TrafficError(
    'conflict',
    `Ingress ${plan.current.namespace}/${plan.current.ingress.name} is not deleted: ${reasons.join('; ')}. Finish or move those first, or repeat with --keep-ingress, which only takes the switch out of it.`,
  )
}

export const mayDelete = (database: Database, id: string, context: EffectContext): Effect => ({
  name: 'ingress-deletable',
  async missing() {
    await refuseDeletion(database, id, context)
    return undefined
  },
})
