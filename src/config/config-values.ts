import { isIP } from 'node:net'
import { z } from 'zod'
import { byName } from '../basics/by-name.ts'

/** The kinds of settings, each of which parses the text of an environment variable. */
export const flag = z.stringbool({ truthy: ['true', '1', 'yes', 'on'], falsy: ['false', '0', 'no', 'off'] })
export const whole = (least: number, most = Number.MAX_SAFE_INTEGER) => z.coerce.number().int().min(least).max(most)
export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
)

/** "120s", "2m", "1h30m", or a plain number of seconds. */
export const duration = z
  .string()
  .regex(/^(\d+|(\d+(\.\d+)?(ms|h|m|s))+)$/, 'must be a duration such as 120s or 2m')
  .transform((text) => {
    if (/^\d+$/.test(text)) return Number(text) * 1000
    const unit: Record<string, number> = byName({ ms: 1, s: 1000, m: 60_000, h: 3_600_000 })
    const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/gy)
    return [...parts].reduce((sum, [, amount, name]) => sum + Number(amount) * (unit[name!] ?? 0), 0)
  })

/** `10.0.0.7`, `10.1.0.0/16`, or the name of a range. */
export function isNetwork(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/')
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  const family = isIP(address)
  const isLength = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128))
  return family !== 0 && isLength && rest.length === 0
}

export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]
/** A role that somebody has; in all projects if none is named. */
export interface Grant {
  readonly role: Role
  readonly project?: string
}

/** Parses `admin`, `operator@shop` or `viewer+operator@shop`. Special characters in the name of a project are percent-encoded. */
function parseGrants(text: string): Grant[] | undefined {
  const grants = text.split('+').map((each): Grant | undefined => {
    const [, role, project] = /^(\w+)(?:@(.+))?$/.exec(each) ?? []
    const name = project === undefined ? undefined : decoded(project)
    if (!ROLES.includes(role as Role) || (project !== undefined && name === undefined)) return undefined
    return { role: role as Role, ...(name !== undefined && { project: name }) }
  })
  return grants.includes(undefined) ? undefined : (grants as Grant[])
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

export interface RoleToken {
  readonly name: string
  readonly grants: readonly Grant[]
  readonly token: string
}
const TOKEN_FORM = 'must look like NAME:operator@PROJECT:TOKEN,…, each token with at least 16 characters'
export const roleTokens = list.transform((entries, context): RoleToken[] =>
  entries.flatMap((entry) => {
    const [, name = '', granted = '', token = ''] = /^([\w.-]+):([^:]+):(\S{16,})$/.exec(entry) ?? []
    const grants = parseGrants(granted)
    if (name && grants) return { name, grants, token }
    context.addIssue({ code: 'custom', message: TOKEN_FORM })
    return []
  }),
)

/** The grants of each group; `*` means everybody who may sign in. */
export type GroupRoles = readonly { readonly group: string; readonly grants: readonly Grant[] }[]
export const groupRoles = list.transform(
  (entries, context): GroupRoles =>
    entries.flatMap((entry) => {
      const [, group = '', granted = ''] = /^(.+)=([^=]+)$/.exec(entry) ?? []
      const grants = parseGrants(granted)
      if (group && grants) return { group, grants }
      context.addIssue({ code: 'custom', message: 'must look like GROUP=viewer,GROUP=operator@PROJECT,*=viewer' })
      return []
    }),
)
/** The default: everybody who may sign in may do everything. */
export const EVERYTHING: GroupRoles = [{ group: '*', grants: [{ role: 'admin' }] }]
