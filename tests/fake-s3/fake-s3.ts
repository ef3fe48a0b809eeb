/**
 * An S3-compatible store on 127.0.0.1 with lists, ranges and multipart uploads. It calculates the signature of each request
 * itself, from Amazon's public description of Signature Version 4, and refuses any other signature.
 */
import { createHash, createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listening } from '../support/listening.ts'

export const S3_KEYS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'planted+secret/of-the-store' }
const REGION = 'eu-central-9'
const SMALLEST_PART = 5 * 1024 ** 2
/** So small that most lists have several pages. */
const PAGE = 2

interface Upload {
  readonly key: string
  readonly parts: Map<number, Buffer>
  readonly initiated: Date
}
export interface FakeS3 {
  readonly url: string
  /** The environment variables that a command needs to use the store. */
  readonly environment: Readonly<Record<string, string>>
  readonly objects: Map<string, Buffer>
  readonly uploads: Map<string, Upload>
  readonly requests: string[]
  /** The number of bytes that still fit. */
  room: number
  /** This many of the next requests are answered with 503, or not at all. */
  failures: { count: number; how: 'busy' | 'cut' }
  /** Called before each request is answered. */
  onRequest: (line: string) => unknown
  stop(): Promise<void>
}

class Refused extends Error {
  readonly status: number
  readonly code: string
  readonly more: string
  constructor(status: number, code: string, more = '') {
    super(code)
    this.status = status
    this.code = code
    this.more = more
  }
}

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')
const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest()
const rfc3986 = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/

function verify(request: IncomingMessage, url: URL, body: Buffer): void {
  const [, access, day = '', region = '', names = '', signature] =
    AUTHORIZATION.exec(request.headers.authorization ?? '') ?? []
  if (access !== S3_KEYS.AWS_ACCESS_KEY_ID) throw new Refused(403, 'InvalidAccessKeyId')
  if (region !== REGION) throw new Refused(400, 'AuthorizationHeaderMalformed', `<Region>${REGION}</Region>`)
  const signed = names.split(';')
  for (const needed of ['host', 'x-amz-content-sha256', 'x-amz-date']) {
    if (!signed.includes(needed)) throw new Refused(403, 'AccessDenied')
  }
  const hash = String(request.headers['x-amz-content-sha256'])
  if (hash !== sha256(body)) throw new Refused(400, 'XAmzContentSHA256Mismatch')
  const path = url.pathname.split('/').map((part) => rfc3986(decodeURIComponent(part)))
  const query = [...url.searchParams].map(([name, value]) => `${rfc3986(name)}=${rfc3986(value)}`).sort()
  const headers = signed.map((name) => `${name}:${String(request.headers[name]).trim()}\n`)
  const canonical = [request.method, path.join('/'), query.join('&'), headers.join(''), names, hash].join('\n')
  const scope = [day, region, 's3', 'aws4_request']
  const toSign = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope.join('/'), sha256(canonical)].join('\n')
  let key: Buffer | string = `AWS4${S3_KEYS.AWS_SECRET_ACCESS_KEY}`
  for (const part of scope) key = hmac(key, part)
  if (hmac(key, toSign).toString('hex') !== signature) throw new Refused(403, 'SignatureDoesNotMatch')
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const tagOf = (bytes: Buffer) => `"${createHash('md5').update(bytes).digest('hex')}"`

export async function startFakeS3(bucket: string): Promise<FakeS3> {
  const objects = new Map<string, Buffer>()
  const uploads = new Map<string, Upload>()

  function listObjects({ searchParams }: URL): string {
    const prefix = searchParams.get('prefix') ?? ''
    const after = searchParams.get('continuation-token') ?? ''
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const page = keys.slice(0, PAGE)
    const isCut = keys.length > PAGE
    const more = isCut ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
    const entries = page.map((key) => `<Contents><Key>${key}</Key><Size>${objects.get(key)?.length}</Size></Contents>`)
    return `<ListBucketResult xmlns="x"><IsTruncated>${isCut}</IsTruncated>${more}${entries.join('')}</ListBucketResult>`
  }

  function listUploads({ searchParams }: URL): string {
    const prefix = searchParams.get('prefix') ?? ''
    const entries = [...uploads]
      .filter(([, { key }]) => key.startsWith(prefix))
      .map(
        ([id, { key, initiated }]) =>
          `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`,
      )
    return `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${entries.join('')}</ListMultipartUploadsResult>`
  }

  function complete(id: string, body: string): string {
    const upload = uploads.get(id)
    if (!upload) throw new Refused(404, 'NoSuchUpload')
    const named = [...body.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)]
    const parts = named.map(([, number, tag = ''], index) => {
      const bytes = upload.parts.get(Number(number))
      if (!bytes || tag.replaceAll('&quot;', '"') !== tagOf(bytes)) throw new Refused(400, 'InvalidPart')
      if (bytes.length < SMALLEST_PART && index < named.length - 1) throw new Refused(400, 'EntityTooSmall')
      return bytes
    })
    if (parts.length === 0) throw new Refused(400, 'MalformedXML')
    objects.set(upload.key, Buffer.concat(parts))
    uploads.delete(id)
    return '<CompleteMultipartUploadResult/>'
  }

  function putPart({ searchParams }: URL, body: Buffer, response: ServerResponse): string {
    const upload = uploads.get(searchParams.get('uploadId') ?? '')
    if (!upload) throw new Refused(404, 'NoSuchUpload')
    if (body.length > store.room) throw new Refused(507, 'XMinioStorageFull')
    store.room -= body.length
    upload.parts.set(Number(searchParams.get('partNumber')), body)
    response.setHeader('etag', tagOf(body))
    return ''
  }

  function read(request: IncomingMessage, key: string, response: ServerResponse): Buffer {
    const bytes = objects.get(key)
    if (!bytes) throw new Refused(404, 'NoSuchKey')
    response.setHeader('etag', tagOf(bytes))
    const wanted = request.headers['if-match']
    if (wanted && wanted !== tagOf(bytes)) throw new Refused(412, 'PreconditionFailed')
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    if (from === undefined) return bytes
    response.statusCode = 206
    return bytes.subarray(Number(from), Number(to) + 1)
  }

  function answer(request: IncomingMessage, url: URL, body: Buffer, response: ServerResponse): Buffer | string {
    const [, name, ...rest] = url.pathname.split('/')
    if (name !== bucket) throw new Refused(404, 'NoSuchBucket')
    const key = rest.map(decodeURIComponent).join('/')
    const id = url.searchParams.get('uploadId')
    if (request.method === 'HEAD') return read(request, key, response)
    if (request.method === 'PUT') return putPart(url, body, response)
    if (request.method === 'GET') {
      if (key !== '') return read(request, key, response)
      return url.searchParams.has('uploads') ? listUploads(url) : listObjects(url)
    }
    if (request.method === 'POST') {
      if (id) return complete(id, body.toString())
      const number = randomUUID()
      uploads.set(number, { key, parts: new Map(), initiated: new Date() })
      return `<InitiateMultipartUploadResult><UploadId>${number}</UploadId></InitiateMultipartUploadResult>`
    }
    if (id) uploads.delete(id)
    else objects.delete(key)
    response.statusCode = 204
    return ''
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const line = `${request.method} ${url.pathname}${url.search}`
    const body = await bodyOf(request)
    store.requests.push(line)
    await store.onRequest(line)
    if (store.failures.count > 0) {
      store.failures.count--
      if (store.failures.how === 'cut') return request.socket.destroy()
      response.statusCode = 503
      return response.end('<Error><Code>SlowDown</Code></Error>')
    }
    let content: Buffer | string
    try {
      verify(request, url, body)
      content = answer(request, url, body, response)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const { status, code, more } = error
      response.statusCode = status
      content = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>The reason is ${code}.</Message>${more}</Error>`
    }
    response.setHeader('content-length', Buffer.byteLength(content))
    return response.end(request.method === 'HEAD' ? undefined : content)
  })
  const { url, stop } = await listening(server)
  const store: FakeS3 = {
    url,
    stop,
    objects,
    uploads,
    requests: [],
    room: Number.POSITIVE_INFINITY,
    environment: { BACKUP_S3_ENDPOINT: url, BACKUP_S3_REGION: REGION, ...S3_KEYS },
    failures: { count: 0, how: 'busy' },
    onRequest: () => {},
  }
  return store
}
