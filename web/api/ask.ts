import type { Operations } from './description.ts'
import { heard } from './silence.ts'

export type Operation = keyof Operations
export type AnswerTo<Name extends Operation> = Operations[Name]['answer']
/** The input of an operation: values in the path, the query, headers, and the body. */
export type Given<Name extends Operation> = Omit<Operations[Name], 'answer'>

/** A request that failed. The message is the server's own and says what to change. */
export class Refused extends Error {
  readonly status: number
  /** Data sent with the message, for example the present state of a record. */
  readonly data: unknown
  constructor(message: string, status: number, data: unknown = null) {
    super(message)
    this.status = status
    this.data = data
  }
}

interface Parts {
  readonly path?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Uses /api, because otherwise addresses of pages and of the API would be the same. */
function addressOf(template: string, { path = {}, query = {} }: Parts): string {
  const place = template.replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(String(path[key])))
  const given = Object.entries(query).flatMap(([key, value]) =>
    [value].flat().flatMap((each) => (each === undefined ? [] : [[key, String(each)]])),
  )
  return `/api${place}${given.length > 0 ? `?${new URLSearchParams(given)}` : ''}`
}

/** Only a page of this server can read the cookie. Sending its value back shows that no other site made the request. */
function proofOfPage(): Record<string, string> {
  const [, value] = /(?:^|; )devlake_csrf=([^;]*)/.exec(document.cookie) ?? []
  return value ? { 'x-csrf-token': decodeURIComponent(value) } : {}
}

/** Refuses further properties that a spread may add, because the server accepts only the parameters that it describes. */
export type NoOthers<Sent, Known> = Sent extends { readonly query: infer Query }
  ? Known extends { readonly query?: infer Parameters }
    ? { readonly query: { readonly [Key in Exclude<keyof Query, keyof NonNullable<Parameters>>]?: never } }
    : { readonly query?: never }
  : unknown

type Rest<Sent, Known> =
  Record<string, never> extends Known
    ? [given?: Sent & NoOthers<Sent, Known>, signal?: AbortSignal]
    : [given: Sent & NoOthers<Sent, Known>, signal?: AbortSignal]

export async function ask<Name extends Operation, Sent extends Given<Name>>(
  operation: Name,
  ...[given, signal]: Rest<Sent, Given<Name>>
): Promise<AnswerTo<Name>> {
  const [method, template] = operation.split(' ') as [string, string]
  const { body, header, ...parts } = (given ?? {}) as Parts
  const isFile = body instanceof FormData
  const response = await fetch(addressOf(template, parts), {
    method,
    signal: signal ?? null,
    headers: {
      accept: 'application/json',
      // For a file the browser writes its own content type, which contains the boundary.
      ...(body !== undefined && !isFile && { 'content-type': 'application/json' }),
      ...(method !== 'GET' && proofOfPage()),
      ...header,
    },
    ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    heard(false)
    throw new Refused('The server does not answer. It may be starting again; this page tries once more by itself.', 0)
  })
  heard(true)
  const text = await response.text()
  const answer = text === '' ? undefined : parsed(text)
  if (response.ok) return answer as AnswerTo<Name>
  throw new Refused(
    sentenceOf(answer, response.status),
    response.status,
    (answer as { data?: unknown } | undefined)?.data,
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const sentenceOf = (answer: unknown, status: number): string =>
  (answer as { message?: string } | undefined)?.message || `The server answered with ${status} and no reason.`
