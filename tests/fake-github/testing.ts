import { DEFAULT_TOKEN, type FakeGithub } from './fake-github.ts'

/** The form of answers in the fake's own tests. */
export interface Response {
  readonly status: number
  readonly headers: Headers
  readonly body: any
}

export async function get(fake: FakeGithub, path: string, headers: Record<string, string> = {}): Promise<Response> {
  const url = path.startsWith('http') ? path : fake.url + path
  return read(await fetch(url, { headers: { ...identity, ...headers }, redirect: 'manual' }))
}

export async function query(
  fake: FakeGithub,
  text: string,
  variables: object = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = JSON.stringify({ query: text, variables })
  return read(await fetch(`${fake.url}/graphql`, { method: 'POST', body, headers: { ...identity, ...headers } }))
}

/** Returns every record of a list by following its `Link` headers. `records` finds the records in a page. */
export async function all(fake: FakeGithub, path: string, records = (body: any): any[] => body): Promise<any[]> {
  const found: any[] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const { body, headers, status } = await get(fake, next)
    if (status !== 200) throw new Error(`${next} answered ${status}: ${JSON.stringify(body)}`)
    found.push(...records(body))
    next = linkTo(headers, 'next')
  }
  return found
}

export function linkTo(headers: Headers, relation: string): string | undefined {
  return new RegExp(`<([^>]+)>; rel="${relation}"`).exec(headers.get('link') ?? '')?.[1]
}

const identity = { 'user-agent': 'weir-tests', authorization: `Bearer ${DEFAULT_TOKEN}` }

async function read(response: globalThis.Response): Promise<Response> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}
