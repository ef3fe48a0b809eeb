import type { Database } from '../core.ts'
import { type Effect, type EffectContext, liveCurrent, ofRoute } from '../effects/effect.ts'
import { refuseDrift } from '../effects/ingress-effects.ts'
import type { IsNeeded } from '../effects/sequences.ts'
import { TrafficError } from '../model/finding.ts'
import { backendsOf } from '../model/manifests.ts'
import type { Plan, RoutePlan, SideName } from '../model/plan.ts'
import { routesOf } from '../model/routes.ts'
import { openSwitches } from './claims.ts'
import type { Request } from './engine-types.ts'
import { listSwitches, type SwitchRow } from './store.ts'

const subject = (plan: RoutePlan, side: SideName = 'current'): string => {
  const { cluster, namespace, ingress } = plan[side]
  return [cluster, namespace, ingress.name].join('\n')
}

const routesIn = ({ plan }: SwitchRow): readonly RoutePlan[] => {
  try {
    return routesOf(JSON.parse(plan) as Plan)
  } catch {
    return []
  }
}

/** Other switches that are prepared and not over. */
async function othersOpen(database: Database, id: string): Promise<readonly SwitchRow[]> {
  const open = await openSwitches(database)
  return (await listSwitches(database)).filter((row) => row.id !== id && open.has(row.id))
}

/** Finds the Ingresses that other switches need; they stay as they are when a switch is given up. */
export async function neededByOthers(database: Database, id: string): Promise<IsNeeded> {
  const routes = (await othersOpen(database, id)).flatMap(routesIn)
  const needed = new Set(routes.flatMap((plan) => [subject(plan), subject(plan, 'target')]))
  return (plan, side) => needed.has(subject(plan, side))
}

/** An abort never deletes the Ingress, because the current Ingress carries all traffic. */
export const deletesIngress = ({ cleanup }: Plan, { action, keepIngress }: Pick<Request, 'action' | 'keepIngress'>) =>
  action === 'cleanup' && cleanup.currentIngress === 'delete-ingress' && keepIngress !== true

/** Deleting an Ingress would also remove everything else that uses it: other switches, and paths of other Services. */
export async function refuseDeletion(database: Database, id: string, context: EffectContext): Promise<void> {
  const { plan, routes = [plan] } = context
  const others = (await othersOpen(database, id)).filter((row) =>
    routesIn(row).some((each) => subject(each) === subject(plan)),
  )
  const live = await liveCurrent(context)
  const beside = routes.filter((each) => subject(each) === subject(plan))
  const own = new Set(beside.flatMap(({ current, actionName }) => [current.service.name, actionName]))
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

/** All routes are checked before the first Ingress is deleted, because one of them may be used by others too. */
export const mayDelete = (database: Database, id: string, contexts: readonly EffectContext[]): readonly Effect[] =>
  contexts.map((context) =>
    ofRoute(
      {
        name: 'ingress-deletable',
        async missing() {
          await refuseDeletion(database, id, context)
          await refuseDrift(context)
          return undefined
        },
      },
      context.plan.route?.name,
    ),
  )
