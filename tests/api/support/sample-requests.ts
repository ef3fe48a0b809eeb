/** Builds one request per route that its description allows, filled with values that the test knows. */
import type { LawfulRoute } from '../../../src/api/access/route-law.ts'
import { resolver } from './requests-from-description.ts'

/** Values by the name of a field or parameter. */
export type Known = Readonly<Record<string, unknown>>
const DEEPEST = 6

/** Builds the smallest value that the schema allows, with every known field in it. */
export function sampleOf(document: any, known: Known) {
  const resolve = resolver(document)
  const sample = (given: any, name = '', depth = 0): unknown => {
    if (name in known) return known[name]
    const schema = resolve(given) ?? {}
    if (schema.default !== undefined) return schema.default
    if (schema.const !== undefined) return schema.const
    if (schema.enum) return schema.enum[0]
    const choice = (schema.anyOf ?? schema.oneOf ?? schema.allOf)?.[0]
    if (choice && depth < DEEPEST) return sample(choice, name, depth + 1)
    // A value that may be null has a list of types.
    const [type] = [schema.type].flat()
    if (type === 'object' || schema.properties) {
      const names = Object.keys(schema.properties ?? {}).filter(
        (each) => depth < DEEPEST && (each in known || schema.required?.includes(each)),
      )
      return Object.fromEntries(names.map((each) => [each, sample(schema.properties[each], each, depth + 1)]))
    }
    if (type === 'array') return depth < DEEPEST && schema.minItems ? [sample(schema.items, name, depth + 1)] : []
    if (type === 'integer' || type === 'number') return schema.minimum ?? 1
    if (type === 'boolean') return true
    return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : 'x'
  }
  return sample
}

export interface SampleRequest {
  readonly method: string
  readonly url: string
  readonly body: unknown
}

/** Builds the request of a route. `known` may differ by the route's `reach`: an id can be that of a blueprint, a run or a task. */
export function sampleRequest(
  document: any,
  { method, url }: Pick<LawfulRoute, 'method' | 'url'>,
  known: Known,
): SampleRequest {
  const operation = document.paths[url.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
  const sample = sampleOf(document, known)
  const path = url
    .replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(known[name] ?? 1)))
    .replace('*', 'user')
  const query = (operation?.parameters ?? [])
    .filter(({ in: place, name, required }: any) => place === 'query' && (required || name in known))
    .map(({ name, schema }: any) => [name, sample(schema, name)])
    .map(([name, value]: [string, unknown]) => `${name}=${encodeURIComponent(String(value))}`)
  const content = operation?.requestBody?.content?.['application/json']
  const body = method === 'GET' ? undefined : content ? sample(content.schema) : {}
  return { method, url: query.length > 0 ? `${path}?${query.join('&')}` : path, body }
}
