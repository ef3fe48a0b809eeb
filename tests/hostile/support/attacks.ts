/** Requests that are too long, too wide, too deep or of the wrong kind, made automatically from the description, for every route. */
import { resolver } from '../../api/support/requests-from-description.ts'

export interface Attack {
  readonly name: string
  readonly method: string
  readonly url: string
  /** Made when it is sent, because all bodies together would be gigabytes. */
  readonly body?: () => string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Statuses above 499 that the route declares because of another server's trouble. */
  readonly mayAnswer: readonly number[]
}

/** Close to the limit of a body. */
const LETTERS = 1_000_000
const KEY = 200_000
const ITEMS = 100_000
const LINES = 100_000
const COLUMNS = 150_000

const WRONG: readonly unknown[] = [null, true, -1, 1e300, '', 'x', [], {}, [[]], [{}], { toString: 1 }, '1e0', '0x1']

type Schema = Readonly<Record<string, any>>

export function attacksOf(document: any): readonly Attack[] {
  const resolve = (schema: Schema = {}): Schema => resolver(document)(schema)
  return Object.entries<Record<string, any>>(document.paths).flatMap(([template, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const parameters: any[] = operation.parameters ?? []
      const url = (longName = '', value = '1') =>
        parameters
          .filter((each) => each.in === 'path')
          .reduce((path, { name }) => path.replace(`{${name}}`, name === longName ? value : '1'), template)
      const mayAnswer = Object.keys(operation.responses ?? {})
        .map(Number)
        .filter((status) => status >= 501)
      const made = (name: string, rest: Partial<Attack> = {}): Attack => ({
        name: `${name}: ${method} ${template}`,
        method: method.toUpperCase(),
        url: url(),
        mayAnswer,
        ...rest,
      })
      const contents = operation.requestBody?.content ?? {}
      const json = resolve(contents['application/json']?.schema)
      return [
        ...parameters.flatMap((parameter) => longParameters(parameter, url, made)),
        made('many parameters', { url: `${url()}?${'a=1&'.repeat(3000)}` }),
        ...(contents['application/json'] ? bodiesOf(json, resolve).map(([name, body]) => made(name, { body })) : []),
        ...(contents['multipart/form-data'] ? uploads(made) : []),
      ]
    }),
  )
}

export type Make = (name: string, rest?: Partial<Attack>) => Attack

function longParameters(
  { name, in: place }: any,
  url: (name?: string, value?: string) => string,
  made: Make,
): Attack[] {
  const values = ['x'.repeat(2900), 'x'.repeat(12_000), '%27%22%3C'.repeat(300), '9'.repeat(400)]
  if (place === 'path') return values.map((value) => made(`long ${name}`, { url: url(name, value) }))
  if (place !== 'query') return []
  return values.map((value) => made(`long ?${name}`, { url: `${url()}?${name}=${value}` }))
}

function bodiesOf(schema: Schema, resolve: (schema?: Schema) => Schema): readonly [string, () => string][] {
  const fields = Object.keys(schema.properties ?? {})
  // Required fields, so that the server also reads the rest.
  const sample = sampleOf(schema, resolve, 0)
  const base = sample !== null && typeof sample === 'object' && !Array.isArray(sample) ? sample : {}
  const beside = (more: () => object) => () => JSON.stringify({ ...base, ...more() })
  const manyKeys = () => Object.fromEntries(Array.from({ length: ITEMS }, (_, index) => [`key${index}`, 1]))
  const many = (count: number, item: unknown) => Array.from({ length: count }, () => item)
  const long = () => 'x'.repeat(LETTERS)
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  return [
    ['as described', () => JSON.stringify(sample ?? null)],
    ['long key', () => `{"${'x'.repeat(KEY)}":1}`],
    ['long key beside', beside(() => ({ ['a://b:'.repeat(KEY / 6)]: 1 }))],
    ['many keys', beside(manyKeys)],
    ['deep', () => nested(30)],
    ['rather deep', () => nested(99)],
    ['deeper', () => nested(100_000)],
    ['list', () => JSON.stringify(many(ITEMS, base))],
    ['cut', () => JSON.stringify(base).slice(0, -1)],
    ['no JSON', long],
    ['letter', () => '"x"'],
    ...fields.flatMap((field): [string, () => string][] => [
      [`long ${field}`, beside(() => ({ [field]: long() }))],
      [`wide ${field}`, beside(() => ({ [field]: many(ITEMS, 1) }))],
      [`list of objects ${field}`, beside(() => ({ [field]: many(ITEMS / 4, { name: 'x' }) }))],
      [`many keys ${field}`, beside(() => ({ [field]: manyKeys() }))],
      [`long key ${field}`, beside(() => ({ [field]: { ['x'.repeat(KEY)]: 1 } }))],
      [`deep ${field}`, beside(() => ({ [field]: JSON.parse(nested(29)) }))],
      ...WRONG.map((value, index): [string, () => string] => [
        `wrong ${field} ${index}`,
        beside(() => ({ [field]: value })),
      ]),
    ]),
  ]
}

/** Returns the smallest value that the schema may allow. */
export function sampleOf(given: Schema | undefined, resolve: (schema?: Schema) => Schema, depth: number): unknown {
  const schema = resolve(given)
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const choice = (schema.anyOf ?? schema.oneOf ?? schema.allOf)?.[0]
  if (choice && depth < 6) return sampleOf(choice, resolve, depth + 1)
  if (schema.type === 'object' || schema.properties) {
    const names: string[] = depth < 6 ? (schema.required ?? []) : []
    return Object.fromEntries(names.map((name) => [name, sampleOf(schema.properties?.[name], resolve, depth + 1)]))
  }
  if (schema.type === 'array') return depth < 6 && schema.minItems ? [sampleOf(schema.items, resolve, depth + 1)] : []
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'boolean') return true
  return schema.format === 'date-time' ? '2024-01-01T00:00:00Z' : 'shop'
}

const FORM = 'multipart/form-data; boundary=edge'
const partOf = (name: string) => `--edge\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`

/** A file in a form, with all other fields that a route may require. */
export const formOf = (file: () => string) => ({
  type: FORM,
  body: () => {
    const fields = { boardId: 'b', boardName: 'b', qaProjectId: 'q', qaProjectName: 'q' }
    const parts = Object.entries(fields).map(([name, value]) => `${partOf(name)}${value}\r\n`)
    return `${parts.join('')}${partOf('file"; filename="x.csv')}${file()}\r\n--edge--\r\n`
  },
})

/** Files with this many letters. */
export function uploads(made: Make, letters = LETTERS): Attack[] {
  const lines = Math.min(letters / 3, LINES)
  const columns = () => Array.from({ length: COLUMNS }, (_, index) => `c${index}`).join(',')
  return [
    made(
      'many columns',
      formOf(() => `${columns()}\n1\n`),
    ),
    made(
      'commas',
      formOf(() => ','.repeat(letters)),
    ),
    made(
      'one long cell',
      formOf(() => `id\n${'x'.repeat(letters)}\n`),
    ),
    made(
      'many lines',
      formOf(() => 'id\n'.repeat(lines)),
    ),
    made(
      'empty lines',
      formOf(() => `id\n${'\n'.repeat(letters)}1\n`),
    ),
    made(
      'an open quote',
      formOf(() => `id\n"${'x\n'.repeat(lines)}`),
    ),
    made(
      'quotes',
      formOf(() => `id\n${'"'.repeat(letters)}\n`),
    ),
    // A form without an end: this once stopped the server.
    made('many parts', { type: FORM, body: () => `${partOf('a')}x\r\n`.repeat(5000) }),
    made('no end', { type: FORM, body: () => `${partOf('file"; filename="x.csv')}id\n` }),
    made('no form', { type: FORM, body: () => 'x'.repeat(letters) }),
  ]
}
