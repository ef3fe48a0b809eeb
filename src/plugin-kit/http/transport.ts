import { getCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { type BrotliOptions, brotliDecompress, unzip, type ZlibOptions } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { messageOf, UserError } from '../../errors.ts'
import { guardedLookup, requireOpenAddress, requireOpenEndpoint } from './address-guard.ts'
import { safeUrl } from './http-message.ts'

export interface Timeouts {
  readonly connectMs: number
  /** An attempt is given up after this time without a byte. */
  readonly stallMs: number
  /** Limit for a whole attempt: connect, send, wait, receive. */
  readonly totalMs: number
}

interface TransportOptions {
  /** http://, https:// or socks5://, with user and password if the proxy asks for them. */
  readonly proxy?: string | undefined
  /** PEM certificates that are trusted besides those of the system. */
  readonly certificates?: string | undefined
  /** Accept every certificate. */
  readonly trustsAnyCertificate?: boolean | undefined
  readonly timeouts: Timeouts
  readonly maxResponseBytes: number
}

export interface Exchange {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  /** Milliseconds since the head of the answer arrived. The head contains the server's time of that moment. */
  readonly age: number
}

/** Sends one request and receives one whole answer. It does not retry, follow redirects or judge the status. */
export interface Transport {
  exchange(
    method: string,
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array | undefined,
    signal: AbortSignal,
  ): Promise<Exchange>
  close(): Promise<void>
}

/** No complete answer came, but another attempt may bring one. */
export class ExchangeFailed extends Error {
  readonly heavy: boolean
  constructor(reason: string, options: { heavy: boolean; cause?: unknown }) {
    super(reason, { cause: options.cause })
    this.heavy = options.heavy
  }
}

export class ResponseTooLarge extends Error {}

export function createTransport(options: TransportOptions): Transport {
  const { timeouts, maxResponseBytes, proxy } = options
  let opened: Promise<Dispatcher> | undefined
  const open = () => {
    opened ??= createDispatcher(options)
    return opened
  }

  async function receive(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of body) {
      size += chunk.length
      if (size > maxResponseBytes) throw tooLarge(maxResponseBytes)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks, size)
  }

  return {
    async exchange(method, url, headers, body, signal) {
      signal.throwIfAborted()
      requireOpenAddress(url)
      if (proxy) {
        requireOpenAddress(new URL(proxy))
        // The proxy looks up the name itself. The addresses that we find are the best guess at those that the proxy finds.
        await requireOpenEndpoint(url.href)
      }
      const dispatcher = await open()
      signal.throwIfAborted()
      // Done by hand, because AbortSignal.timeout would keep a timer for every request until the time is over.
      const stop = new AbortController()
      const abort = () => stop.abort()
      const timer = setTimeout(abort, timeouts.totalMs)
      signal.addEventListener('abort', abort, { once: true })
      try {
        const answer = await dispatcher.request({
          method: method as Dispatcher.HttpMethod,
          origin: url.origin,
          path: url.pathname + url.search,
          headers: { 'accept-encoding': 'gzip, deflate, br', ...headers },
          ...(body !== undefined && { body }),
          headersTimeout: timeouts.stallMs,
          bodyTimeout: timeouts.stallMs,
          signal: stop.signal,
        })
        const headAt = performance.now()
        const received = await receive(answer.body)
        const plain = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]))
        const bytes = await decompress(received, plain['content-encoding'], maxResponseBytes)
        return { status: answer.statusCode, headers: plain, bytes, age: performance.now() - headAt }
      } catch (error) {
        if (signal.aborted) throw signal.reason
        throw stop.signal.aborted
          ? new ExchangeFailed(`no complete answer within ${timeouts.totalMs / 1000} s`, { heavy: true, cause: error })
          : explain(error, url, timeouts)
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
      }
    },
    close: async () => (await opened)?.destroy(),
  }
}

/** The undici library is large, so it is loaded only when needed: a program that sends no requests starts faster. */
async function createDispatcher({
  proxy,
  certificates,
  trustsAnyCertificate,
  timeouts,
}: TransportOptions): Promise<Dispatcher> {
  const { Agent, buildConnector, ProxyAgent, Socks5ProxyAgent } = await import('undici')
  const timeout = timeouts.connectMs
  const tls = {
    timeout,
    ...(certificates && { ca: [...getCACertificates('default'), certificates] }),
    ...(trustsAnyCertificate && { rejectUnauthorized: false }),
  }
  // HTTP/1.1 only: servers cancel single HTTP/2 streams of large answers, which then look like an idle connection.
  const guarded = { ...tls, lookup: guardedLookup }
  if (!proxy) return new Agent({ allowH2: false, connect: guarded })
  // With proxyTls, undici would speak TLS to a SOCKS proxy. The timeout of its handshake is missing from its types.
  if (proxy.startsWith('socks5:')) {
    const connect = buildConnector({ timeout, lookup: guardedLookup })
    return new Socks5ProxyAgent(proxy, { connect, requestTls: tls, connectTimeout: timeout })
  }
  return new ProxyAgent({ uri: proxy, allowH2: false, requestTls: tls, proxyTls: guarded })
}

const tooLarge = (limit: number) => new ResponseTooLarge(`the answer is larger than ${limit} bytes`)

const unpack: (bytes: Buffer, options: ZlibOptions) => Promise<Buffer> = promisify(unzip)
const unpackBrotli: (bytes: Buffer, options: BrotliOptions) => Promise<Buffer> = promisify(brotliDecompress)

async function decompress(bytes: Buffer, encoding: string | undefined, limit: number): Promise<Uint8Array> {
  if (!encoding || encoding === 'identity' || bytes.length === 0) return bytes
  try {
    return await (encoding === 'br' ? unpackBrotli : unpack)(bytes, { maxOutputLength: limit })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit)
    throw new ExchangeFailed(`the ${encoding} body is damaged: ${messageOf(error)}`, { heavy: true, cause: error })
  }
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/
const ANSWER_LOST = /UND_ERR_(SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT|RES_CONTENT_LENGTH_MISMATCH|ABORTED)|ECONNRESET/

/** Turns a network error into one that shows who can solve it, and whether asking for less may help. */
function explain(error: unknown, url: URL, { stallMs }: Timeouts): Error {
  if (error instanceof ResponseTooLarge || error instanceof ExchangeFailed || error instanceof UserError) return error
  // A proxy's agent wraps the error of its connector.
  if ((error as Error).cause instanceof UserError) return (error as Error).cause as Error
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const message = messageOf(error)
  if (CERTIFICATE.test(code)) {
    return new UserError(
      `The certificate of ${safeUrl(url.origin)} is not trusted (${code}). Check the endpoint's host name, or make its issuer known with NODE_EXTRA_CA_CERTS`,
      { cause: error },
    )
  }
  if (/\b407\b/.test(message)) {
    return new UserError('The proxy asks for a user and password (407): put them into the proxy setting', {
      cause: error,
    })
  }
  const reason =
    code.endsWith('_TIMEOUT') && code !== 'UND_ERR_CONNECT_TIMEOUT' ? `no data for ${stallMs / 1000} s` : message
  return new ExchangeFailed(code && !message.includes(code) ? `${reason} (${code})` : reason, {
    heavy: ANSWER_LOST.test(code),
    cause: error,
  })
}
