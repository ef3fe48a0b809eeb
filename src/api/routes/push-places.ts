/** The ways in which an address can name a connection of a push source. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { decimalOf } from '../../basics/decimal.ts'
import type { Services } from '../../control-plane/services.ts'
import { UserError } from '../../errors.ts'
import { id } from '../../plugin-kit/spec/request-values.ts'

export interface Place {
  readonly path: string
  readonly params: z.ZodObject
  /** Projects in which the sender must be an operator. */
  readonly reach: 'everywhere' | 'path'
  /** The name of this place in descriptions of routes. */
  readonly title: string
  connectionId(services: Services, request: FastifyRequest): Promise<number>
  /** For requests that were refused: creates nothing, and returns undefined if the address names no connection. */
  knownId(services: Services, request: FastifyRequest): Promise<number | undefined>
}

export interface Places {
  readonly byId: Place
  readonly byName: Place
  /** DevLake's first addresses; scripts still use them. */
  readonly byShortId: Place
  /** The project's own connection, which the first message creates. */
  readonly byProject: Place
}

const nameFor = (projectName: string) => `${projectName}_deployments`

export function placesOf(plugin: string): Places {
  const base = `/plugins/${plugin}`
  const idPlace = (path: string, title: string): Place => ({
    path,
    title,
    reach: 'everywhere',
    params: z.object({ connectionId: id }),
    connectionId: async (_services, { params }) => (params as { connectionId: number }).connectionId,
    async knownId({ connections }, { params }) {
      const wanted = decimalOf((params as { connectionId: unknown }).connectionId)
      return (await connections.list(plugin)).find((each) => each.id === wanted)?.id
    },
  })
  const byName: Place = {
    path: `${base}/connections/by-name/:connectionName`,
    title: 'a connection, by its name',
    reach: 'everywhere',
    params: z.object({ connectionName: z.string().max(100, 'must be at most 100 characters') }),
    async connectionId(services, { params }) {
      const { connectionName } = params as { connectionName: string }
      const found = await connectionNamed(services, plugin, connectionName)
      if (found === undefined) {
        throw new UserError(`There is no ${plugin} connection ${connectionName}.`, { status: 404 })
      }
      return found
    },
    knownId: (services, { params }) =>
      connectionNamed(services, plugin, (params as { connectionName: string }).connectionName),
  }
  const byProject: Place = {
    path: `${base}/projects/:projectName`,
    title: 'a project',
    reach: 'path',
    params: z.object({ projectName: z.string() }),
    connectionId: (services, { params }) =>
      connectionOfProject(services, plugin, (params as { projectName: string }).projectName),
    knownId: (services, { params }) =>
      connectionNamed(services, plugin, nameFor((params as { projectName: string }).projectName)),
  }
  return {
    byId: idPlace(`${base}/connections/:connectionId`, 'a connection'),
    byShortId: idPlace(`${base}/:connectionId`, 'a connection (old address)'),
    byName,
    byProject,
  }
}

async function connectionOfProject(services: Services, plugin: string, projectName: string): Promise<number> {
  const { blueprint } = await services.projects.get(projectName)
  if (!blueprint) throw new UserError(`Project ${projectName} has no blueprint: create one.`)
  const connectionId = await findOrCreate(services, plugin, nameFor(projectName))
  const isOwn = (each: { pluginName: string; connectionId: number }) =>
    each.pluginName === plugin && each.connectionId === connectionId
  if (!blueprint.connections.some(isOwn)) {
    await services.blueprints.addScopes(blueprint.id, async () => [{ pluginName: plugin, connectionId, scopes: [] }])
  }
  return connectionId
}

async function connectionNamed({ connections }: Services, plugin: string, name: string): Promise<number | undefined> {
  return (await connections.list(plugin)).find((each) => each.name === name)?.id
}

async function findOrCreate(services: Services, plugin: string, name: string): Promise<number> {
  const known = await connectionNamed(services, plugin, name)
  if (known !== undefined) return known
  try {
    return (await services.connections.create(plugin, { name })).id
  } catch (error) {
    // If two first messages arrive at once, one finds the connection that the other has created.
    const made = await connectionNamed(services, plugin, name)
    if (made === undefined) throw error
    return made
  }
}
