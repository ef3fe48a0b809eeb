/** Generates requests that the description allows, nearly allows, or does not allow at all. */
import fc from 'fast-check'

export interface GeneratedRequest {
  readonly method: string
  readonly template: string
  readonly url: string
  readonly body: string | undefined
  readonly headers: Record<string, string>
}

const HOSTILE = [
  '',
  ' ',
  '/',
  '..',
  '%',
  '%00',
  "'; drop table projects; --",
  '"><script>alert(1)</script>',
  '{{7*7}}',
  '🚀 emoji',
  'a/b',
  'é\u0301\u202e',
  '\u0000',
  '\ud800',
  'x'.repeat(300),
  '(',
  '-1',
  '1e309',
  'null',
  '__proto__',
  'constructor',
]
const WORDS = ['shop', 'main', 'rules', 'dora', 'github', 'NORMAL', 'ADVANCED', '0 0 * * *', 'manual', '1', '2', '.*']
const NUMBERS = [0, 1, 2, 3, -1, 1.5, 99, 2 ** 31, 2 ** 53, 1e300]

const anyText = fc.oneof(fc.constantFrom(...WORDS), fc.constantFrom(...HOSTILE), fc.string({ maxLength: 20 }))
const anyValue = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<unknown>(null, true, false, '', [], {}, [[]], [[{}]], 'x', 1) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
)

/** Follows the references of a description to the schemas that they name. */
export const resolver = (document: any) => {
  const resolve = (schema: any): any => {
    if (!schema?.$ref) return schema
    const parts: string[] = schema.$ref.slice(2).split('/')
    return resolve(parts.reduce((at: any, part) => at[part], document))
  }
  return resolve
}

/** Generates requests. `local` is an address of this machine, and no other may be contacted. */
export function generatedRequests(document: any, local: string): fc.Arbitrary<GeneratedRequest> {
  const resolve = resolver(document)
  const addresses = fc.constantFrom(local, `${local}/`, 'ftp://127.0.0.1/', 'nonsense', '', 'http://169.254.169.254/')

  function valid(given: any, name = '', depth = 0): fc.Arbitrary<unknown> {
    const schema = resolve(given) ?? {}
    if (name === 'endpoint' || name === 'proxy') return addresses
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (schema.enum) return fc.constantFrom(...schema.enum)
    const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
    if (choices) return fc.oneof(...choices.map((choice: any) => loose(choice, name, depth + 1)))
    if ([schema.type].flat().includes('object')) return objectOf(schema, depth)
    if (schema.type === 'array') {
      return depth > 5 ? fc.constant([]) : fc.array(loose(schema.items ?? {}, '', depth + 1), { maxLength: 3 })
    }
    if (schema.type === 'integer' || schema.type === 'number') return fc.oneof(fc.constantFrom(...NUMBERS), fc.nat(20))
    if (schema.type === 'boolean') return fc.boolean()
    if (schema.type === 'null') return fc.constant(null)
    if (schema.format === 'date-time')
      return fc.constantFrom('2024-01-01T00:00:00Z', '2999-01-01', 'yesterday', '0001-01-01')
    return schema.type === 'string' ? anyText : anyValue
  }
  /** Generates values that mostly fit the schema, but sometimes not. */
  const loose = (schema: any, name: string, depth: number): fc.Arbitrary<unknown> =>
    fc.oneof(
      { weight: 12, arbitrary: valid(schema, name, depth) },
      { weight: 1, arbitrary: name === 'endpoint' || name === 'proxy' ? addresses : anyValue },
    )

  function objectOf(schema: any, depth: number): fc.Arbitrary<unknown> {
    const properties = Object.entries<any>(schema.properties ?? {})
    if (properties.length === 0)
      return fc.dictionary(fc.constantFrom('plugin', 'options', 'subtasks', 'x'), anyValue, { maxKeys: 3 })
    if (depth > 6) return fc.constant({})
    const fields = Object.fromEntries(properties.map(([name, each]) => [name, loose(each, name, depth + 1)]))
    const requiredKeys = (schema.required ?? []).filter((name: string) => name in fields)
    const known = fc.record(fields, { requiredKeys })
    const unknown = fc.record({ unheardOf: anyValue })
    return fc.oneof(
      { weight: 9, arbitrary: known },
      { weight: 1, arbitrary: fc.tuple(known, unknown).map(([left, right]) => ({ ...left, ...right })) },
    )
  }

  const anyId = fc.constantFrom('1', '2', '3', '99', '0', '-1', 'abc', '1.5', '9007199254740993', '%2F', '1%20or%201')
  const parameter = ({ schema }: any): fc.Arbitrary<string> => {
    const kind = resolve(schema)?.type
    if (kind === 'integer' || kind === 'number') return anyId
    return fc.oneof(anyId, anyText.map(encode))
  }

  function requestOf(template: string, method: string, operation: any): fc.Arbitrary<GeneratedRequest> {
    const parameters = operation.parameters ?? []
    const inPath = parameters.filter((each: any) => each.in === 'path')
    const inQuery = parameters.filter((each: any) => each.in === 'query')
    const bodySchema = operation.requestBody?.content?.['application/json']?.schema
    return fc
      .record({
        path: fc.tuple(...inPath.map(parameter)),
        query: fc.tuple(
          ...inQuery.map((each: any) =>
            fc.option(
              fc.oneof(
                parameter(each),
                valid(each.schema).map((value) =>
                  encode(typeof value === 'object' ? JSON.stringify(value) : String(value)),
                ),
              ),
            ),
          ),
        ),
        body: bodySchema
          ? fc.option(
              loose(bodySchema, '', 0).map((value) => JSON.stringify(value)),
              { freq: 20 },
            )
          : fc.constant(null),
        cut: fc.nat(30),
        type: fc.constantFrom(
          'application/json',
          'application/json',
          'text/plain',
          'application/x-www-form-urlencoded',
        ),
        prefix: fc.constantFrom('', '', '', '/api', '/rest'),
      })
      .map(({ path, query, body, cut, type, prefix }) => {
        const filled = inPath.reduce(
          (url: string, { name }: any, index: number) => url.replace(`{${name}}`, path[index] as string),
          template,
        )
        const pairs = query.flatMap((value, index) => (value === null ? [] : [`${inQuery[index].name}=${value}`]))
        return {
          method: method.toUpperCase(),
          template,
          url: prefix + filled + (pairs.length > 0 ? `?${pairs.join('&')}` : ''),
          // Sometimes the end of the body is missing.
          body: cut === 0 ? body?.slice(0, -1) : (body ?? undefined),
          headers: { 'content-type': type },
        }
      })
  }

  const requests = Object.entries<any>(document.paths).flatMap(([template, methods]) =>
    Object.entries<any>(methods)
      // These answers last as long as a run does, and nothing runs here.
      .filter(() => !/\/events$|\/log$/.test(template))
      .map(([method, operation]) => requestOf(template, method, operation)),
  )
  return fc.oneof(...requests)
}

/** Clients resolve `.` and `..` in paths before they send a request. */
const encode = (text: string) => (/^\.{1,2}$/.test(text) ? 'x' : encodeURIComponent(text.toWellFormed()))
