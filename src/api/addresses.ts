/** One table of routes serves `/x`, `/api/x` and, with an API key, `/rest/x` and `/api/rest/x`; browsers get the web client. */
import type { IncomingMessage } from 'node:http'

const viaKey = new WeakSet<IncomingMessage>()
/** True if the request was sent to /rest, which requires an API key. */
export const isKeyed = (request: IncomingMessage): boolean => viaKey.has(request)

// Clients do not encode scope ids in addresses, and some contain slashes.
const SCOPE = /^(\/plugins\/[^/]+\/connections\/[^/]+\/scopes\/)(.+?)(\/latest-sync-state)?$/

/** The first parts of the web client's addresses: one page serves them all. `/projects` is an address of the API, too. */
const ROOMS = [
  'start',
  'answer',
  'overview',
  'projects',
  'blueprints',
  'dashboards',
  'shared',
  'sources',
  'runs',
  'data',
  'traffic',
  'settings',
]

/** True if a person opens a page, rather than a program asking for data. */
function isForPage({ method, headers, url = '/' }: IncomingMessage): boolean {
  if (method !== 'GET' || !/\btext\/html\b/.test(headers.accept ?? '')) return false
  return ROOMS.includes(/^\/([^/?]*)/.exec(url)?.[1] ?? '')
}

export function rewriteUrl(request: IncomingMessage): string {
  if (isForPage(request)) return '/'
  let url = request.url ?? '/'
  const strip = (prefix: string) => {
    if (url !== prefix && !url.startsWith(`${prefix}/`) && !url.startsWith(`${prefix}?`)) return false
    url = url.slice(prefix.length)
    if (!url.startsWith('/')) url = `/${url}`
    return true
  }
  strip('/api')
  if (strip('/rest')) viaKey.add(request)
  const [path = '/', ...query] = url.split('?')
  const scope = SCOPE.exec(path)
  if (!scope?.[2]?.includes('/')) return url
  const [, before, id, after = ''] = scope
  return [`${before}${id.replaceAll('/', '%2F')}${after}`, ...query].join('?')
}

/** Returns the address without slashes at its end, as routes know it; undefined if there is nothing to remove. */
export function withoutSlash(url: string): string | undefined {
  const [path = '', ...query] = url.split('?')
  // The server behind a proxy route decides itself what such a slash means.
  if (path.length < 2 || !path.endsWith('/') || path.includes('/proxy/rest/')) return undefined
  let end = path.length
  while (end > 0 && path[end - 1] === '/') end--
  const target = [path.slice(0, end), ...query].join('?')
  return isOwnAddress(target) ? target : undefined
}

/** True for a path of this server. Browsers read `//host` and `/\\host` as another server, and skip control characters. */
export const isOwnAddress = (path: string): boolean => /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(path)
