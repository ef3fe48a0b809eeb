/** A proxy in front of a fake vendor, which changes or replaces its answers. */
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listening } from '../support/listening.ts'

/** Returns the replacement of a value. It is called for inner values before outer ones. */
export type Rewrite = (key: string, value: any) => unknown

export interface RewritingProxy {
  readonly url: string
  rewrite: Rewrite
  /** Called before a request is answered. */
  onRequest: () => void
  /** Replaces the vendor's answers. */
  instead: { readonly status: number; readonly body: string; readonly type: string } | undefined
  stop(): Promise<void>
}

export async function startRewritingProxy(target: string): Promise<RewritingProxy> {
  const server = createServer(async (request, response) => {
    const { host: _, connection: __, ...headers } = request.headers
    const sent = await buffer(request)
    proxy.onRequest()
    if (proxy.instead) {
      const { status, body, type } = proxy.instead
      response.writeHead(status, { 'content-type': type }).end(body)
      return
    }
    const answer = await fetch(new URL(request.url ?? '/', target), {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(sent.length > 0 && { body: new Uint8Array(sent) }),
    })
    const { 'content-length': ___, 'transfer-encoding': ____, ...kept } = Object.fromEntries(answer.headers)
    const text = await answer.text()
    const isJson = kept['content-type']?.includes('json') && text !== ''
    response.writeHead(answer.status, kept)
    response.end(isJson ? JSON.stringify(JSON.parse(text, (key, value) => proxy.rewrite(key, value))) : text)
  })
  const proxy: RewritingProxy = {
    ...(await listening(server)),
    rewrite: (_key, value) => value,
    onRequest: () => {},
    instead: undefined,
  }
  return proxy
}
