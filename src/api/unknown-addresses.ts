/** Answers for addresses that no route has, and for methods that an address does not have. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Api } from './api.ts'
import { envelope } from './envelope.ts'

interface Address {
  readonly pattern: RegExp
  readonly methods: Set<string>
  /** Grows with the number of parts that may be anything; the address with the lowest matches best. */
  readonly open: number
}

/** Call this before any route is added. */
export function unknownAddresses(api: Api): { answer(request: FastifyRequest, reply: FastifyReply): FastifyReply } {
  const addresses = new Map<string, Address>()
  api.addHook('onRoute', ({ url, method }) => {
    const address = addresses.get(url) ?? {
      pattern: patternOf(url),
      methods: new Set<string>(),
      open: url.split(/[:*]/).length,
    }
    for (const each of [method].flat()) address.methods.add(each)
    addresses.set(url, address)
  })
  return {
    answer(request, reply) {
      const path = request.url.split('?')[0] as string
      const known = [...addresses.values()].filter(({ pattern }) => pattern.test(path))
      const [nearest] = known.sort((one, other) => one.open - other.open)
      // A route may itself find that there is nothing, for example no file of that name.
      if (!nearest || nearest.methods.has(request.method))
        return reply.code(404).type('text/plain; charset=utf-8').send('404 page not found')
      const allowed = [...nearest.methods].sort().join(', ')
      return reply
        .code(405)
        .header('allow', allowed)
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(envelope(false, `This address has no method ${request.method}: use ${allowed}.`)))
    },
  }
}

function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part === '*') return '.*'
    return part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${parts.join('/')}$`)
}
