/** Writes the description of the API as types, so that web/ knows nothing else about the server. `npm run docs` calls it. */
import { createServer } from '../src/api/server.ts'
import { readConfig } from '../src/config/config.ts'
import type { Database } from '../src/database/database.ts'
import { createLog } from '../src/log.ts'
import { plugins } from '../src/plugins/index.ts'
import { createSecrets } from '../src/secrets/secrets.ts'
import { createControlPlane } from '../src/start/create-control-plane.ts'

export const apiTypesFile = new URL('../web/api/description.ts', import.meta.url)

/** The part of JSON Schema that the description uses. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  /** There are further properties, which differ from source to source. */
  readonly hasOwn?: true
}

const literal = (value: unknown) => JSON.stringify(value)
const name = (key: string) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : literal(key))
const joined = (parts: readonly string[], by: string) => (parts.length === 1 ? String(parts[0]) : `(${parts.join(by)})`)

function typeOf(schema: Schema | undefined): string {
  if (typeof schema !== 'object') return 'unknown'
  if (schema.$ref) return schema.$ref.split('/').at(-1) as string
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return joined(schema.enum.map(literal), ' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return joined([...new Set(choices.map(typeOf))], ' | ')
  if (schema.allOf) return joined(schema.allOf.map(typeOf), ' & ')
  if (Array.isArray(schema.type))
    return joined(
      schema.type.map((type) => typeOf({ ...schema, type })),
      ' | ',
    )
  return plainType(schema)
}

function plainType(schema: Schema): string {
  switch (schema.type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return `ReadonlyArray<${typeOf(schema.items)}>`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

function objectType({ properties = {}, required = [], additionalProperties, hasOwn }: Schema): string {
  const fields = Object.entries(properties).map(
    ([key, schema]) => `readonly ${name(key)}${required.includes(key) ? '' : '?'}: ${typeOf(schema)}`,
  )
  if (hasOwn) fields.push('readonly [own: string]: unknown')
  if (fields.length > 0) return `{ ${fields.join('; ')} }`
  const rest = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'
  return `Readonly<Record<string, ${rest}>>`
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

function operationType({ parameters = [], requestBody, responses = {} }: any): string {
  const inPlace = (place: string) => {
    const own = parameters.filter((each: any) => each.in === place)
    const properties = Object.fromEntries(own.map((each: any) => [each.name, each.schema ?? {}]))
    const required = own.filter((each: any) => each.required).map((each: any) => each.name)
    return own.length === 0
      ? []
      : [`${place}${required.length > 0 ? '' : '?'}: ${objectType({ properties, required })}`]
  }
  const body = contentOf(requestBody)
  const parts = [
    ...inPlace('path'),
    ...inPlace('query'),
    ...inPlace('header'),
    ...(body ? [`body: ${typeOf(body)}`] : []),
  ]
  return `{ ${[...parts, `answer: ${typeOf(successOf({ responses }))}`].join('; ')} }`
}

/** The type that fits all of them: an object has the properties that all of them have. */
function commonOf(schemas: readonly Schema[]): Schema {
  const [first = {}] = schemas
  if (new Set(schemas.map(typeOf)).size === 1) return first
  if (new Set(schemas.map(({ type }) => String(type))).size > 1) return {}
  if (first.type === 'array') return { type: 'array', items: commonOf(schemas.map(({ items = {} }) => items)) }
  if (![first.type].flat().includes('object')) return {}
  const names = Object.keys(first.properties ?? {}).filter((key) => schemas.every((each) => each.properties?.[key]))
  return {
    type: first.type as string,
    properties: Object.fromEntries(
      names.map((key) => [key, commonOf(schemas.map(({ properties = {} }) => properties[key] as Schema))]),
    ),
    required: names.filter((key) => schemas.every(({ required = [] }) => required.includes(key))),
    hasOwn: true,
  }
}

const contentOf = (part: any) => (Object.values(part?.content ?? {}) as any[])[0]?.schema
const successOf = ({ responses = {} }: any) =>
  contentOf(responses[Object.keys(responses).find((status) => status.startsWith('2')) ?? ''])
const PLUGIN = { in: 'path', name: 'plugin', required: true, schema: { type: 'string' } }

/** The operation of any source, from the same operation of each. */
function ofAnySource(operations: readonly any[]): unknown {
  const { parameters = [], requestBody } = operations[0]
  const content = (schemas: readonly Schema[]) => ({ content: { 'application/json': { schema: commonOf(schemas) } } })
  return {
    parameters: [PLUGIN, ...parameters],
    ...(requestBody && { requestBody: content(operations.map((each) => contentOf(each.requestBody))) }),
    responses: { 200: content(operations.map(successOf)) },
  }
}

/** All sources have the same operations, each below its own name. They become one with `{plugin}` in its address. */
function withoutSources(operations: readonly (readonly [name: string, operation: any])[]) {
  const names = plugins.flatMap(({ name, source }) => (source && !source.settingsOf ? [name] : []))
  const address = new RegExp(`/plugins/(?:${names.join('|')})/`)
  const alike = Map.groupBy(operations, ([name]) => name.replace(address, '/plugins/{plugin}/'))
  return [...alike].map(([name, all]) =>
    all.length > 1
      ? ([name, ofAnySource(all.map(([, operation]) => operation))] as const)
      : (all[0] as (typeof all)[0]),
  )
}

export function renderApiTypes(document: any): string {
  const components = Object.entries<Schema>(document.components.schemas ?? {}).map(
    ([key, schema]) => `export type ${key} = ${typeOf(schema)}`,
  )
  const operations = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => methods[method]).map(
      (method) => [`${method.toUpperCase()} ${path}`, methods[method]] as const,
    ),
  )
  const lines = withoutSources(operations).map(([name, operation]) => `  '${name}': ${operationType(operation)}`)
  const head = '// Generated by `npm run docs` from the description of the API; do not edit.\n'
  return [head, ...components, '', 'export interface Operations {', ...lines, '}', ''].join('\n')
}

/** Routes are described without any request, so that nothing but the plugins has to be real. */
export async function describeApi(): Promise<unknown> {
  const log = createLog('silent')
  const secrets = createSecrets('of no server')
  const control = createControlPlane({ database: {} as Database, plugins, secrets, dataFolder: '', log })
  const server = await createServer({ config: readConfig({}), control, log })
  await server.ready()
  const document = (server as any).swagger()
  await server.close()
  return document
}
