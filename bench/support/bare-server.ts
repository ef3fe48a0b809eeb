/** A Fastify route that returns the bytes it was started with, and nothing else: the floor of `bench api`. */
import { text } from 'node:stream/consumers'
import Fastify from 'fastify'

const body = await text(process.stdin)
const server = Fastify()
server.get('/', (_request, reply) => reply.type('application/json; charset=utf-8').send(body))
console.log(await server.listen({ host: '127.0.0.1', port: 0 }))
