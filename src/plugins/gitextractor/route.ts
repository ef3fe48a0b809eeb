/** Makes git connect only to the server that was checked, at the address that was checked, without following redirects. */

import { UserError } from '../../errors.ts'
import { ClosedAddress, createTransport, curlPin, openAddresses, safeUrl, taskConfig } from '../../plugin-kit/index.ts'
import { serverOf } from '../../secrets/address-secrets.ts'
import { isHttp } from './options.ts'

interface Route {
  /** The address after redirects. */
  readonly url: string
  /** Configuration for git. */
  readonly pairs: readonly [string, string][]
  /** Options for ssh. */
  readonly ssh: readonly string[]
}

interface Way {
  readonly url: string
  readonly proxy: string
  /** Headers with credentials. They are sent to no other server. */
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

const MOST_REDIRECTS = 5
const ADVERTISEMENT = 'application/x-git-upload-pack-advertisement'
const TIMEOUTS = { connectMs: 10_000, stallMs: 60_000, totalMs: 120_000 }
const LARGEST_ANSWER = 64 * 1024 * 1024

/** Follows redirects and looks up names before git runs. Git itself would send the credentials along, and look the names up once more. */
export async function openRoute(way: Way): Promise<Route> {
  if (!isHttp(way.url)) return { url: way.url, pairs: [], ssh: await sshOptions(way.url) }
  const isOurs = !usesOtherProxy(way.proxy)
  const url = isOurs ? await resolveRedirects(way) : way.url
  // Git would look the name up again, and might get another address.
  if (isOurs && way.proxy === '' && (await openAddresses(new URL(url).hostname)).length === 0) {
    throw new UserError(`The host of ${url} is unknown: check the address and this machine's name server.`)
  }
  const pins = (await Promise.all([url, ...(way.proxy ? [way.proxy] : [])].map(curlPin))).filter(
    (pin) => pin !== undefined,
  )
  return {
    url,
    pairs: [['http.followRedirects', 'false'], ...pins.map((pin): [string, string] => ['http.curloptResolve', pin])],
    ssh: [],
  }
}

/** Git takes this proxy from the environment. The person who set it there knows where it leads. */
const usesOtherProxy = (proxy: string): boolean =>
  proxy === '' && Object.keys(process.env).some((name) => /^(https?|all)_proxy$/i.test(name) && process.env[name])

/** Makes the same request as git, and returns the address after redirects. Failures are left to git to explain, unless the address is forbidden. */
async function resolveRedirects({ url: start, proxy, headers, signal }: Way): Promise<string> {
  const transport = createTransport({
    proxy: proxy.replace(/^socks5h:/, 'socks5:') || undefined,
    trustsAnyCertificate: taskConfig().trustsAnyCertificate,
    timeouts: TIMEOUTS,
    maxResponseBytes: LARGEST_ANSWER,
  })
  const asking = { 'user-agent': 'git/weir', 'git-protocol': 'version=2', ...headers }
  let url = start
  try {
    for (let count = 0; count <= MOST_REDIRECTS; count++) {
      const address = new URL(`${url.replace(/\/$/, '')}/info/refs`)
      address.searchParams.set('service', 'git-upload-pack')
      const answer = await transport.exchange('GET', address, asking, undefined, signal)
      const { location, 'content-type': type = '' } = answer.headers
      if (answer.status >= 200 && answer.status < 300 && !type.startsWith(ADVERTISEMENT)) {
        throw new NoRepository(`${safeUrl(start)} answers, but not as a git repository: check the address.`)
      }
      if (answer.status < 300 || answer.status >= 400 || !location) return url
      const target = new URL(location, address)
      if (Object.keys(headers).length > 0 && serverOf(target.href) !== serverOf(start)) {
        throw new NoRepository(
          `${safeUrl(start)} redirects to another server, ${safeUrl(target)}, which is not given the credentials. If the repository has moved there, change the address.`,
        )
      }
      if (!isHttp(target.href) || !target.pathname.endsWith('/info/refs')) {
        throw new NoRepository(
          `${safeUrl(start)} redirects to something that is not a git repository, ${safeUrl(target)}.`,
        )
      }
      url = target.origin + target.pathname.slice(0, -'/info/refs'.length)
    }
    throw new NoRepository(`${safeUrl(start)} redirects more than ${MOST_REDIRECTS} times.`)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof NoRepository || error instanceof ClosedAddress) throw error
    return url
  } finally {
    await transport.close()
  }
}

class NoRepository extends UserError {}

/** The key of the host stays known under the host name. */
async function sshOptions(url: string): Promise<string[]> {
  const { host, port } = sshServer(url)
  if (!host) return []
  const [first] = await openAddresses(host)
  if (!first || first === host) return []
  const alias = port && port !== '22' ? `[${host}]:${port}` : host
  return [`-o HostName=${first}`, `-o 'HostKeyAlias=${alias}'`]
}

function sshServer(url: string): { host?: string; port?: string } {
  const parsed = url.startsWith('ssh://') ? new URL(url) : undefined
  if (parsed) return { host: parsed.hostname.replace(/^\[|\]$/g, ''), port: parsed.port }
  const host = /^[\w.-]+@([\w.-]+):/.exec(url)?.[1]
  return host ? { host } : {}
}
