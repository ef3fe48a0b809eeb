/**
 * The largest requests that are valid: invalid ones are refused at their first line and cost nothing. Lists are made from the
 * description of every route, files and YAML for every route that declares them. `share` is the part of the allowed size that
 * is sent.
 */
import type { LawfulRoute } from '../../../src/api/access/route-law.ts'
import { SIZES } from '../../../src/plugin-kit/spec/route-size.ts'
import { csvFiles } from '../../../src/plugins/customize/csv-files.ts'
import { orgFiles } from '../../../src/plugins/org/files.ts'
import { resolver } from '../../api/support/requests-from-description.ts'
import { type Attack, formOf, sampleOf } from './attacks.ts'

const ROOM = 200
/** A busy server may answer with this status. */
const BUSY = [503]

/** Joins as many pieces as fit. */
function filled(room: number, most: number, piece: (index: number) => string, separator = ''): string {
  const pieces: string[] = []
  for (let length = 0; pieces.length < most; ) {
    const next = piece(pieces.length + 1)
    length += next.length + separator.length
    if (length > room) break
    pieces.push(next)
  }
  return pieces.join(separator)
}

/** Numbers a sample, so that samples differ in everything that may be a key. */
const numbered = (sample: string, index: number) =>
  sample.replaceAll(/"shop"/g, `"shop${index}"`).replaceAll(/:1(?=[,}])/g, `:${index}`)
const partsOf = (json: string) => json.split(/[,[{]/).length

export function fullLists(laws: readonly LawfulRoute[], document: any, share: number): readonly Attack[] {
  const resolve = (schema: any) => resolver(document)(schema ?? {})
  return laws.flatMap(({ method, url, size }) => {
    if (['none', 'file', 'delivery'].includes(size)) return []
    const template = url.replaceAll(/:(\w+)/g, '{$1}')
    const operation = document.paths[template]?.[method.toLowerCase()]
    const schema = resolve(operation?.requestBody?.content?.['application/json']?.schema)
    const bytes = SIZES[size].bytes * share
    const values = SIZES[size].values * share
    const list = (items: unknown, room: number) => {
      // Once with all properties, and once with only the required ones.
      const item = resolve(items)
      const whole = { ...item, required: Object.keys(item.properties ?? {}) }
      return [whole, item].map((each) => {
        const sample = JSON.stringify(sampleOf(each, resolve, 0))
        return `[${filled(room, Math.floor((values - ROOM) / partsOf(sample)), (index) => numbered(sample, index), ',')}]`
      })
    }
    const path = url.replaceAll(/:\w+/g, (name) => (name === ':tableName' ? 'repos' : '1')).replace('*', 'x')
    const made = (name: string, body: () => string): Attack => ({
      name: `full ${name}: ${method} ${path}`,
      method,
      url: path,
      body,
      mayAnswer: BUSY,
    })
    if (schema.type === 'array') {
      return ['whole', 'short'].map((kind, index) => made(kind, () => list(schema.items, bytes - ROOM)[index]!))
    }
    return Object.entries<any>(schema.properties ?? {}).flatMap(([field, given]) => {
      const own = resolve(given)
      const inner =
        own.type === 'array' ? own : (own.anyOf ?? []).map(resolve).find((each: any) => each.type === 'array')
      if (!inner) return []
      const base = sampleOf(schema, resolve, 0) as object
      const around = JSON.stringify({ ...base, [field]: 0 })
      return ['whole', 'short'].map((kind, index) =>
        made(`${kind} ${field}`, () =>
          around.replace(`"${field}":0`, () => `"${field}":${list(inner.items, bytes - around.length - ROOM)[index]}`),
        ),
      )
    })
  })
}

const task = (index: number) => `{"plugin":"github","options":{"connectionId":1,"githubId":${index}}}`
const post = (name: string, url: string, body: () => string, method = 'POST'): Attack => ({
  name: `full ${name}: ${method} ${url}`,
  method,
  url,
  body,
  mayAnswer: BUSY,
})
const most = (share: number, parts: number) =>
  [SIZES.list.bytes * share - 2 * ROOM, Math.floor((SIZES.list.values * share - ROOM) / parts)] as const

/** Lists whose items the description leaves open. */
export const fullByHand = (share: number): readonly Attack[] => [
  post('tasks', '/pipelines', () => `{"name":"x","plan":[[${filled(...most(share, 6), task, ',')}]]}`),
  post(
    'stages',
    '/pipelines',
    () => `{"name":"x","plan":[${filled(...most(share, 7), (index) => `[${task(index)}]`, ',')}]}`,
  ),
  post(
    'tasks',
    '/blueprints',
    () => `{"name":"x","mode":"ADVANCED","plan":[[${filled(...most(share, 6), task, ',')}]]}`,
  ),
  post(
    'scopes',
    '/plugins/github/connections/1/scopes',
    () =>
      `{"data":[${filled(...most(share, 4), (index) => `{"githubId":${index},"name":"r${index}","fullName":"a/r${index}"}`, ',')}]}`,
    'PUT',
  ),
  post(
    'scopes',
    '/blueprints',
    () =>
      `{"name":"y","mode":"NORMAL","connections":[{"pluginName":"github","connectionId":1,"scopes":[${filled(...most(share, 2), (index) => `{"scopeId":"${index}"}`, ',')}]}]}`,
  ),
  post('rows', '/push/repos', () => `[${filled(...most(share, 2), (index) => `{"id":"r${index}"}`, ',')}]`),
]

/** YAML texts, each as long as its field allows. */
const YAML: Readonly<Record<string, (room: number) => string>> = {
  keys: (room) => filled(room, room, (index) => `k${index}: 1\n`),
  lists: (room) => filled(room, room, () => '- {}\n'),
  brackets: (room) => '['.repeat(room),
  documents: (room) => filled(room, room, () => '---\na: 1\n'),
  lines: (room) => '\n'.repeat(room),
  projects: (room) => `projects:\n${filled(room - 10, room, (index) => `  p${index}: {}\n`)}`,
  connections: (room) =>
    `connections:\n  github:\n${filled(room - 30, room, (index) => `    c${index}: { token: x, endpoint: 'http://127.0.0.1:9/' }\n`)}`,
  'scopes of a project': (room) =>
    `projects:\n  p:\n    collect:\n      - connection: github/github\n        scopes: [${filled(room - 100, room, (index) => `a/${index}`, ',')}]\n`,
  'selectors of a project': (room) =>
    `projects:\n  p:\n    collect:\n${filled(room - 30, room, (index) => `      - { connection: github/github, scopes: [a/${index}] }\n`)}`,
  'a connection that is nearly called so': (room) =>
    `connections:\n  webhook:\n${filled(room - 400, room, (index) => `    ${String(index).padStart(90, 'x')}: {}\n`)}projects: { p: { collect: [{ connection: webhook/${'x'.repeat(88)} }] } }`,
  'one long word': (room) => `projects: { p: { description: "${'x'.repeat(room - 50)}" } }`,
}

const SHORTEST_YAML = 100_000
export function fullTexts(document: any, share: number): readonly Attack[] {
  const resolve = (schema: any) => resolver(document)(schema ?? {})
  return Object.entries<Record<string, any>>(document.paths).flatMap(([template, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const schema = resolve(operation.requestBody?.content?.['application/json']?.schema)
      return Object.entries<any>(schema.properties ?? {}).flatMap(([field, given]) => {
        const { maxLength = 0 } = resolve(given)
        if (maxLength < SHORTEST_YAML) return []
        const url = template.replaceAll(/\{\w+\}/g, '1')
        return Object.entries(YAML).map(([name, text]) =>
          post(
            `YAML of ${name} as ${field}`,
            url,
            () => JSON.stringify({ [field]: text(maxLength * share) }),
            method.toUpperCase(),
          ),
        )
      })
    }),
  )
}

/** Valid files of this many bytes. */
export function fullFiles(laws: readonly LawfulRoute[], bytes: number): readonly Attack[] {
  const headers = new Map<string, readonly string[]>([
    ...orgFiles.map(({ name, columns }) => [name, columns] as const),
    ...csvFiles.map(({ name, tables: [{ names, keys }], needed = [] }) => {
      const own = [...new Set([...keys.map((place) => names[place] as string), ...needed])]
      return [name, own] as const
    }),
  ])
  return laws.flatMap(({ method, url, size }) => {
    if (size !== 'file') return []
    const columns = headers.get(url.split('/').at(-1) as string)
    if (!columns) throw new Error(`Nobody knows the columns of the file for ${method} ${url}: add them here.`)
    const line = (index: number) => `${columns.map(() => index).join(',')}\n`
    const file = () => `${columns.join(',')}\n${filled(bytes - 1000, bytes, line)}`
    const wide = () =>
      `${columns.join(',')}\n${filled(bytes - 1000, bytes, (index) => line(index).replace(/\d+\n$/, `${index}${' '.repeat(200)}\n`))}`
    return [
      { name: `full file of short lines: ${method} ${url}`, method, url, mayAnswer: BUSY, ...formOf(file) },
      { name: `full file of long lines: ${method} ${url}`, method, url, mayAnswer: BUSY, ...formOf(wide) },
    ]
  })
}
