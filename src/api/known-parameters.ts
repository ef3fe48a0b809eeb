/**
 * Compares the query parameters of a request with the schema of its route. An unknown filter must not return the numbers of
 * everything, so our own routes refuse it. DevLake's routes ignore it, as DevLake does, and warn in a header.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { guessOf, listOf, shortName } from '../basics/nearest.ts'
import { FatalError, UserError } from '../errors.ts'
import type { Api } from './api.ts'

/** By name: true if the parameter may occur more than once. */
type Parameters = ReadonlyMap<string, boolean>
type Values = Record<string, unknown>

const isOurs = (url: string) => url === '/v1' || url.startsWith('/v1/')
/** A request may have hundreds of unknown parameters. */
const MOST_TOLD = 5

/** Call this before any route is added. */
export function knownParameters(api: Api): void {
  api.addHook('onRoute', (route) => {
    const known = parametersOf(route.schema?.querystring, route.url)
    if (!known) return
    const look = isOurs(route.url) ? refuse : ignore
    const check = async (request: FastifyRequest, reply: FastifyReply) => look(known, request.query as Values, reply)
    // Runs before the body is read, and after the user is known.
    route.onRequest = [route.onRequest ?? [], check].flat()
  })
}

function refuse(known: Parameters, sent: Values): void {
  const names = [...known.keys()]
  const unknown = unknownIn(known, sent)
  if (unknown.length > 0 && names.length === 0) {
    throw new UserError(`This address has no parameters: leave out ${unknown.map(shortName).join(', ')}.`)
  }
  if (unknown.length > 0) {
    const sentences = unknown.map((name) => `There is no parameter ${shortName(name)}${guessOf(name, names)}`)
    throw new UserError([...sentences, listOf(names)].join(' '))
  }
  const [name] = repeatedIn(known, sent)
  if (name !== undefined) throw new UserError(`${name} may stand once, and stands ${timesOf(sent[name])} times.`)
}

function ignore(known: Parameters, sent: Values, reply: FastifyReply): void {
  const names = [...known.keys()]
  const unknown = unknownIn(known, sent).map(
    (name) => `There is no parameter ${inHeader(name)}: it was ignored${guessOf(name, names)}`,
  )
  const repeated = repeatedIn(known, sent).map((name) => {
    const warning = `${name} may stand once, and stands ${timesOf(sent[name])} times: the first counts.`
    sent[name] = (sent[name] as unknown[])[0]
    return warning
  })
  const warnings = [...unknown, ...repeated]
  if (warnings.length > 0) void reply.header('warning', `299 - "${warnings.join(' ')}"`)
}

const unknownIn = (known: Parameters, sent: Values) =>
  Object.keys(sent)
    .filter((name) => !known.has(name))
    .slice(0, MOST_TOLD)
const repeatedIn = (known: Parameters, sent: Values) =>
  [...known].flatMap(([name, isList]) => (!isList && Array.isArray(sent[name]) ? [name] : []))
const timesOf = (value: unknown) => (value as unknown[]).length
/** Headers allow few characters, and a quote would end the text of the warning. */
const inHeader = (name: string) => encodeURIComponent(shortName(name).toWellFormed())

interface Definition {
  readonly type: string
  readonly shape?: Readonly<Record<string, unknown>>
  readonly catchall?: unknown
  readonly innerType?: unknown
  readonly in?: unknown
  readonly out?: unknown
  readonly options?: readonly unknown[]
}
const definitionOf = (schema: unknown): Definition | undefined =>
  (schema as { _zod?: { def: Definition } } | undefined)?._zod?.def

/** Undefined if any parameter is allowed. A route without a schema for its query has no parameters. */
function parametersOf(schema: unknown, url: string): Parameters | undefined {
  if (schema === undefined) return new Map()
  const { type, shape, catchall } = definitionOf(schema) ?? {}
  if (type !== 'object' || !shape) throw new FatalError(`The schema of the query of ${url} is no object.`)
  if (catchall !== undefined && definitionOf(catchall)?.type !== 'never') return undefined
  return new Map(Object.entries(shape).map(([name, each]) => [name, takesList(each)]))
}

/** Looks inside wrappers: optional, default, and conversions before or after. */
function takesList(schema: unknown): boolean {
  const definition = definitionOf(schema)
  if (!definition) return false
  const { type, options = [], innerType, in: before, out: after } = definition
  return type === 'array' || [...options, innerType, before, after].some(takesList)
}
