/** Links to the pages that show what a message reports. */
import { hostname } from 'node:os'
import type { Config } from '../config/config.ts'

/** These stand for all addresses of a machine, so links use its host name, by which others know it. */
const ANY_ADDRESS = new Set(['0.0.0.0', '::'])

/** The address that is set; else the one to which people return from signing in; else the one on which the server listens. */
export function publicUrlOf({
  publicUrl,
  oidc,
  host,
  port,
}: Pick<Config, 'publicUrl' | 'oidc' | 'host' | 'port'>): string {
  if (publicUrl) return withoutEnd(publicUrl)
  const [provider] = oidc
  if (provider) return new URL(provider.redirectUrl).origin
  const name = ANY_ADDRESS.has(host) ? hostname() : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

interface NumberOfTime {
  readonly project: string
  readonly metric: string
  readonly from: Date
  readonly to: Date
}

/** Links to a number for exactly this time, with what it is made of. */
export function linkToNumber(publicUrl: string, { project, metric, from, to }: NumberOfTime): string {
  const search = new URLSearchParams({
    'var-project': project,
    from: from.toISOString(),
    to: to.toISOString(),
    explain: metric,
  })
  return `${publicUrl}/dashboards/dora?${search}`
}

/** Links to the four keys of a project, or of all. */
export const linkToKeys = (publicUrl: string, project: string): string =>
  project === '' ? `${publicUrl}/` : `${publicUrl}/projects/${encodeURIComponent(project)}`

const withoutEnd = (address: string): string => (address.endsWith('/') ? withoutEnd(address.slice(0, -1)) : address)
