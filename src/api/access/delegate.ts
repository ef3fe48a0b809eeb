/** Lets a route send requests to other routes on behalf of its user: with the same checks and rights, so there is no second way in. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance } from 'fastify'
import type { Ask, Question } from '../../mcp/ask.ts'
import type { User } from './identity.ts'

interface Delegation {
  /** Undefined if the installation is open and the request names no user. */
  readonly user: User | undefined
}

const delegation = new AsyncLocalStorage<Delegation>()

/** Tells for whom the current request is made; undefined if it came from outside. */
export const delegationOf = (): Delegation | undefined => delegation.getStore()

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value))

function addressOf({ path, query = {} }: Pick<Question, 'path' | 'query'>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((each) => each !== undefined)
      .map((each): [string, string] => [name, textOf(each)]),
  )
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`
}

/** Sends the request within the process. `address` is that of the original client, so that limits by address still apply. */
export function askAs(server: FastifyInstance, user: User | undefined, address = '127.0.0.1'): Ask {
  return ({ method, body, ...place }) =>
    delegation.run({ user }, async () => {
      const payload = body === undefined ? {} : { payload: JSON.stringify(body) }
      const headers = body === undefined ? {} : { 'content-type': 'application/json' }
      const url = addressOf(place)
      const { statusCode, payload: text } = await server.inject({
        method,
        url,
        headers,
        remoteAddress: address,
        ...payload,
      })
      return { status: statusCode, body: parsed(text) }
    })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
