/**
 * A role in a project covers only what belongs to the project. Adding connections or scopes to it, and changing what else its
 * runs do, needs a role in all projects. An admin of the project alone may remove and change the rest.
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
  // A NORMAL plan is made from the connections, so a `plan` that was sent has no effect.
  for (const name of PLANS.filter((each) => each !== 'plan' || after.mode === 'ADVANCED')) {
    if (!isDeepStrictEqual(before[name] ?? [], after[name] ?? [])) throw refusal(`A change of ${name}`)
  }
}

/** The check for changes of a blueprint; undefined for admins of all projects, who may change everything. */
export const allowedTo = (request: FastifyRequest) => (mayAsk(request, 'admin') ? undefined : requireOwnParts)

/** Users may change what they made for themselves. Operators of all projects may change it too, to put it right. */
export function requireMaker(request: FastifyRequest, makerId: string): void {
  if (mayAsk(request, 'operator') || (makerId !== '' && makerId === request.user?.id)) return
  throw new UserError('Somebody else made it: this needs the role operator in all projects.', { status: 403 })
}
