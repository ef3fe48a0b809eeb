/** The largest requests that a route accepts, in the most expensive forms, made from the routes' own declarations. */
import { createHmac, randomUUID } from 'node:crypto'
import type { LawfulRoute } from '../../../src/api/access/route-law.ts'
import { SIZES } from '../../../src/plugin-kit/spec/route-size.ts'
import { resolver } from '../../api/support/requests-from-description.ts'
import { type Attack, uploads } from './attacks.ts'

const FORM = 'application/x-www-form-urlencoded'
const LONG_NUMBER = '12345678901234567890'
const ROOM = 200
/** Statuses above 499 with which a server says that it is busy. */
const BUSY = [503]

const many = (count: number, item: string) =>
  Array<string>(Math.max(0, Math.floor(count)))
    .fill(item)
    .join(',')
const letters = (place: number) =>
  [...place.toString(26)].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 26))).join('')
const named = (name: string, method: string, url: string, body: () => string, type?: string): Attack => ({
  name: `${name}: ${method} ${url}`,
  method,
  url,
  body,
  mayAnswer: BUSY,
  ...(type && { type }),
})

const groups = '(a|b?)'.repeat(1000)
const regex = `(?P<namespace>x)(?P<repo_name>y)(?P<commit_sha>${groups})`
/** Each of these requests once made all other clients wait. */
export const SILENCING: readonly Attack[] = [
  named(
    'many names',
    'POST',
    '/auth/token',
    () => Array.from({ length: 300_000 }, (_, n) => letters(n)).join('&'),
    FORM,
  ),
  named('long number', 'POST', '/auth/token', () => `{"token":[${LONG_NUMBER},${many(1_300_000, '{}')}]}`),
  named('long number in a list', 'POST', '/blueprints', () => `{"plan":[${LONG_NUMBER},${many(1_300_000, '{}')}]}`),
  named('million', 'PUT', '/plugins/github/connections/1/scopes', () => `{"data":[${many(1_000_000, '{}')}]}`),
  named('pattern', 'POST', '/plugins/jira/apply-regex', () =>
    JSON.stringify({ regex, urls: Array(30).fill('a'.repeat(100_000)) }),
  ),
  named('pattern that fits', 'POST', '/plugins/jira/apply-regex', () =>
    JSON.stringify({ regex: regex.slice(0, 400).replace(/\([^)]*$/, ')'), urls: ['a'.repeat(200_000)] }),
  ),
  named('steps of a pattern', 'POST', '/v1/patterns/match', () =>
    JSON.stringify({ pattern: '(a?){1000}b', names: Array(1000).fill('a'.repeat(1000)) }),
  ),
]

type Shape = (room: number, values: number, field: string) => string
const SHAPES: Readonly<Record<string, Shape>> = {
  list: (room, values) => `[${many(Math.min(values - 5, room / 3), '{}')}]`,
  objects: (room, values, field) => `{"${field}":[${many(Math.min(values - 5, room / 3), '{}')}]}`,
  lists: (room, values, field) => `{"${field}":[${many(Math.min(values - 5, room / 3), '[]')}]}`,
  names: (room, values) =>
    `{${Array.from({ length: Math.min(values - 5, Math.floor(room / 12)) }, (_, index) => `"k${index}":1`).join(',')}}`,
  text: (room, _values, field) => `{"${field}":"${'x'.repeat(room)}"}`,
  numbers: (room, values, field) => `{"${field}":[${LONG_NUMBER},${many(Math.min(values - 5, room / 3), '{}')}]}`,
}

export function atLimits(laws: readonly LawfulRoute[], document: any): readonly Attack[] {
  const resolve = resolver(document)
  const isBody = ({ method, size }: LawfulRoute) =>
    !['GET', 'HEAD'].includes(method) && !['none', 'file', 'delivery'].includes(size)
  return laws.filter(isBody).flatMap(({ method, url, size }) => {
    const template = url.replaceAll(/:(\w+)/g, '{$1}')
    const schema = document.paths[template]?.[method.toLowerCase()]?.requestBody?.content?.['application/json']?.schema
    const fields = Object.keys(resolve(schema ?? {}).properties ?? {})
    const { bytes, values } = SIZES[size]
    const path = url.replaceAll(/:\w+/g, '1').replace('*', 'x')
    return Object.entries(SHAPES).flatMap(([name, shape]) => {
      const own = name === 'list' || name === 'names' ? [''] : fields.length > 0 ? fields : ['data']
      return own.map((field) => named(`${name} ${field}`, method, path, () => shape(bytes - ROOM, values, field)))
    })
  })
}

/** Files of the largest size, for every route that takes one. */
export const largestFiles = (laws: readonly LawfulRoute[]): readonly Attack[] =>
  laws
    .filter(({ size }) => size === 'file')
    .flatMap(({ method, url }) => {
      const path = url.replaceAll(/:\w+/g, '1')
      const made = (name: string, rest: Partial<Attack> = {}) => ({
        name: `largest ${name}: ${method} ${path}`,
        method,
        url: path,
        mayAnswer: BUSY,
        ...rest,
      })
      return uploads(made, SIZES.file.bytes - 65_536 - ROOM)
    })

const delivery = (url: string, name: string, secret: string, body: () => string): Attack => {
  const text = body()
  const signature = createHmac('sha256', secret).update(text).digest('hex')
  const headers = {
    'x-github-event': 'push',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': `sha256=${signature}`,
  }
  return { name: `delivery, ${name}`, method: 'POST', url, body: () => text, headers, mayAnswer: BUSY }
}

/** The largest deliveries that GitHub may send, signed as GitHub signs them. */
export const largestDeliveries = (connection: number, secret: string): readonly Attack[] => {
  const url = `/v1/plugins/github/connections/${connection}/deliveries`
  const { bytes, values } = SIZES.delivery
  return Object.entries(SHAPES)
    .filter(([name]) => name !== 'list')
    .map(([name, shape]) => delivery(url, name, secret, () => shape(bytes - ROOM, values, 'commits')))
}
