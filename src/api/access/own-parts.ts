/**
 * A role in a project ends with what is the project's. Which connections and scopes are, and what else its runs do, somebody
 * decides whose role applies everywhere; an admin of the project alone may take away and change the rest.
 */
import { isDeepStrictEqual } from 'node:util'
import type { FastifyRequest } from 'fastify'
import type { BlueprintParts } from '../../control-plane/services.ts'
import { UserError } from '../../errors.ts'
import { mayAsk } from './gate.ts'

const PLANS = ['plan', 'beforePlan', 'afterPlan'] as const

const refusal = (what: string) =>
  new UserError(`${what} needs the role admin in all projects: ask an admin for it.`, { status: 403 })

function requireOwnParts(before: BlueprintParts, after: BlueprintParts): void {
  const known = new Map(
    before.connections.map(({ pluginName, connectionId, scopes }) => [
      `${pluginName} ${Number(connectionId)}`,
      new Set(scopes.map(({ scopeId }) => String(scopeId))),
    ]),
  )
  for (const { pluginName, connectionId, scopes } of after.connections) {
    const own = known.get(`${pluginName} ${Number(connectionId)}`)
    if (!own) throw refusal(`Connection ${connectionId} of ${pluginName} is not the project's: to add it`)
    const foreign = (scopes ?? []).find(({ scopeId }) => !own.has(String(scopeId)))
    if (foreign) throw refusal(`Scope ${foreign.scopeId} of ${pluginName} is not the project's: to add it`)
  }
  // A NORMAL plan is made from the connections, whatever was sent.
  for (const name of PLANS.filter((each) => each !== 'plan' || after.mode === 'ADVANCED')) {
    if (!isDeepStrictEqual(before[name] ?? [], after[name] ?? [])) throw refusal(`A change of ${name}`)
  }
}

/** For changes of a blueprint by whoever asks. */
export const allowedTo = (request: FastifyRequest) => (mayAsk(request, 'admin') ? undefined : requireOwnParts)

/** What people make for themselves is theirs, and those who look after everything may put it right. */
export function requireMaker(request: FastifyRequest, makerId: string): void {
  if (mayAsk(request, 'operator') || (makerId !== '' && makerId === request.user?.id)) return
  throw new UserError('Somebody else made it: this needs the role operator in all projects.', { status: 403 })
}
