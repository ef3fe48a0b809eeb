/** Serves repositories as a forge does: `git http-backend` behind HTTP on loopback, with credentials and faults. */
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from '../../support/at-end.ts'

export interface GitServer {
  /** The address of the folder above the repositories. */
  readonly url: string
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[]
  /** Called before each answer. If it returns true, it has answered itself. */
  fault: ((response: ServerResponse, request: IncomingMessage) => boolean) | null
}

export async function serveGit(root: string, login?: { user: string; password: string }): Promise<GitServer> {
  const expected = login && `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
    served.requests.push({ path: pathname + search, authorization: request.headers.authorization })
    if (served.fault?.(response, request)) return
    if (expected && request.headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('no')
      return
    }
    backend(root, pathname, search.slice(1), request, response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const served: GitServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    fault: null,
  }
  return served
}

/** Reads CGI output: headers, an empty line, the body. */
function backend(root: string, path: string, query: string, request: IncomingMessage, response: ServerResponse): void {
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  request.pipe(child.stdin)
  child.stdin.on('error', () => {})
  response.on('close', () => child.kill('SIGKILL'))
  let head = Buffer.alloc(0)
  child.stdout.on('data', function take(piece: Buffer) {
    head = Buffer.concat([head, piece])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    child.stdout.off('data', take)
    const headers = head
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(/:\s*/, 2) as [string, string])
    const status = headers.find(([name]) => name === 'Status')?.[1]
    response.writeHead(status ? Number.parseInt(status, 10) : 200, Object.fromEntries(headers))
    response.write(head.subarray(end + 4))
    child.stdout.pipe(response)
  })
}
