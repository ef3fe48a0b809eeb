/** Where people open what a message tells of. */
import { hostname } from 'node:os'
import type { Config } from '../config.ts'

/** Of addresses that mean all of a machine, its name is what others know it by. */
const ANY_ADDRESS = new Set(['0.0.0.0', '::'])

/** As it is set, as people come back to from signing in, or else the address that the server listens on. */
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

export interface NumberOfTime {
  readonly project: string
  readonly metric: string
  readonly from: Date
  readonly to: Date
}

/** The number of just this time, with what it is made of. */
export function linkToNumber(publicUrl: string, { project, metric, from, to }: NumberOfTime): string {
  const search = new URLSearchParams({
    'var-project': project,
    from: from.toISOString(),
    to: to.toISOString(),
    explain: metric,
  })
  return `${publicUrl}/dashboards/dora?${search}`
}

/** The four keys of a project, or of all. */
export const linkToKeys = (publicUrl: string, project: string): string =>
  project === '' ? `${publicUrl}/` : `${publicUrl}/projects/${encodeURIComponent(project)}`

const withoutEnd = (address: string): string => (address.endsWith('/') ? withoutEnd(address.slice(0, -1)) : address)
