/** Fastify routes that return just the bytes with which they were started: the floor of `bench api`. */
import { json } from 'node:stream/consumers'
import Fastify from 'fastify'

const bodies = (await json(process.stdin)) as Record<string, string>
const server = Fastify()
for (const [path, body] of Object.entries(bodies)) {
  server.get(path, (_request, reply) => reply.type('application/json; charset=utf-8').send(body))
}
console.log(await server.listen({ host: '127.0.0.1', port: 0 }))
