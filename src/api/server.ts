import Fastify, { type FastifyInstance } from 'fastify'
import type { Database } from '../database/database.ts'
import type { Logger } from '../log.ts'

export interface ServerDependencies {
  readonly database: Database
  readonly log: Logger
}

export function createServer({ log }: ServerDependencies): FastifyInstance {
  const server = Fastify({ loggerInstance: log, forceCloseConnections: true })
  server.get('/ping', async (_request, reply) => reply.code(200).send())
  return server as unknown as FastifyInstance
}
