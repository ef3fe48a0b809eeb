/** Routes that ask other routes on behalf of whoever asked them: the same checks, the same rights, no second way in. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance } from 'fastify'
import type { Ask, Question } from '../../mcp/ask.ts'
import type { User } from './identity.ts'

interface Delegation {
  /** Undefined: the installation is open, and nobody said who they are. */
  readonly user: User | undefined
}

const delegation = new AsyncLocalStorage<Delegation>()

/** For whom the request at hand is made; undefined when it came from outside. */
export const delegationOf = (): Delegation | undefined => delegation.getStore()

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value))

export function addressOf({ path, query = {} }: Pick<Question, 'path' | 'query'>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((each) => each !== undefined)
      .map((each): [string, string] => [name, textOf(each)]),
  )
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`
}

/** Asks within the process. `address` is that of whoever asks: what is limited by address stays limited. */
export function askAs(server: FastifyInstance, user: User | undefined, address = '127.0.0.1'): Ask {
  return ({ method, body, ...place }) =>
    delegation.run({ user }, async () => {
      const payload = body === undefined ? {} : { payload: JSON.stringify(body) }
      const headers = body === undefined ? {} : { 'content-type': 'application/json' }
      const url = addressOf(place)
      const { statusCode, payload: text } = await server.inject({
        ...{ method, url, headers, remoteAddress: address },
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
