/** The ways in which an address can name a webhook connection. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { decimalOf } from '../../decimal.ts'
import { UserError } from '../../errors.ts'
import type { Services } from '../../pipelines/services.ts'
import { id } from '../contract/common.ts'

export const WEBHOOK = 'webhook'
export const BASE = `/plugins/${WEBHOOK}`

export interface Place {
  readonly path: string
  readonly params: z.ZodObject
  /** How people call it, for descriptions of routes. */
  readonly title: string
  connectionId(services: Services, request: FastifyRequest): Promise<number>
  /** The same of a request that was refused: makes nothing, and takes what is no connection for none. */
  knownId(services: Services, request: FastifyRequest): Promise<number | undefined>
}

const byId = (path: string, title: string): Place => ({
  path,
  title,
  params: z.object({ connectionId: id }),
  connectionId: async (_services, { params }) => (params as { connectionId: number }).connectionId,
  async knownId({ connections }, { params }) {
    const sent = decimalOf((params as { connectionId: unknown }).connectionId)
    return (await connections.list(WEBHOOK)).find((each) => each.id === sent)?.id
  },
})

export const BY_ID = byId(`${BASE}/connections/:connectionId`, 'a connection')
/** DevLake's first addresses; scripts still use them. */
export const BY_SHORT_ID = byId(`${BASE}/:connectionId`, 'a connection (old address)')
export const BY_NAME: Place = {
  path: `${BASE}/connections/by-name/:connectionName`,
  title: 'a connection, by its name',
  params: z.object({ connectionName: z.string().max(100, 'must be at most 100 characters') }),
  async connectionId(services, { params }) {
    const { connectionName } = params as { connectionName: string }
    const found = await connectionNamed(services, connectionName)
    if (found === undefined) throw new UserError(`There is no webhook connection ${connectionName}.`, { status: 404 })
    return found
  },
  knownId: (services, { params }) => connectionNamed(services, (params as { connectionName: string }).connectionName),
}
const nameFor = (projectName: string) => `${projectName}_deployments`
/** The connection of a project's own, which comes to be with the first message. */
export const BY_PROJECT: Place = {
  path: `${BASE}/projects/:projectName`,
  title: 'a project',
  params: z.object({ projectName: z.string() }),
  async connectionId(services, { params }) {
    const { projectName } = params as { projectName: string }
    const { blueprint } = await services.projects.get(projectName)
    if (!blueprint) throw new UserError(`Project ${projectName} has no blueprint: create one.`)
    const connectionId = await findOrCreate(services, nameFor(projectName))
    const isOwn = (each: { pluginName: string; connectionId: number }) =>
      each.pluginName === WEBHOOK && each.connectionId === connectionId
    if (!blueprint.connections.some(isOwn)) {
      await services.blueprints.addScopes(blueprint.id, async () => [{ pluginName: WEBHOOK, connectionId, scopes: [] }])
    }
    return connectionId
  },
  knownId: (services, { params }) =>
    connectionNamed(services, nameFor((params as { projectName: string }).projectName)),
}

async function connectionNamed({ connections }: Services, name: string): Promise<number | undefined> {
  return (await connections.list(WEBHOOK)).find((each) => each.name === name)?.id
}

async function findOrCreate(services: Services, name: string): Promise<number> {
  const known = await connectionNamed(services, name)
  if (known !== undefined) return known
  try {
    return (await services.connections.create(WEBHOOK, { name })).id
  } catch (error) {
    // Of two first messages at once, one finds what the other has made.
    const made = await connectionNamed(services, name)
    if (made === undefined) throw error
    return made
  }
}
