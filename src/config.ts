import { isIP } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { addressSecrets } from './address-secrets.ts'
import { byName } from './by-name.ts'
import { UserError } from './errors.ts'

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)))

const flag = z.stringbool({ truthy: ['true', '1', 'yes', 'on'], falsy: ['false', '0', 'no', 'off'] })
const whole = (least: number, most = Number.MAX_SAFE_INTEGER) => z.coerce.number().int().min(least).max(most)
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
)

/** "120s", "2m", "1h30m", or a plain number of seconds. */
const duration = z
  .string()
  .regex(/^(\d+|(\d+(\.\d+)?(ms|h|m|s))+)$/, 'must be a duration such as 120s or 2m')
  .transform((text) => {
    if (/^\d+$/.test(text)) return Number(text) * 1000
    const unit: Record<string, number> = byName({ ms: 1, s: 1000, m: 60_000, h: 3_600_000 })
    const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/gy)
    return [...parts].reduce((sum, [, amount, name]) => sum + Number(amount) * (unit[name!] ?? 0), 0)
  })

/** `10.0.0.7`, `10.1.0.0/16`, or a name for a range of them. */
function isNetwork(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/')
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  const family = isIP(address)
  const isLength = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128))
  return family !== 0 && isLength && rest.length === 0
}

export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]
/** What somebody may do; without a project, everywhere. */
export interface Grant {
  readonly role: Role
  readonly project?: string
}

/** `admin`, `operator@shop`, `viewer+operator@shop`; signs in the name of a project are percent-encoded. */
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
const roleTokens = list.transform((entries, context): RoleToken[] =>
  entries.flatMap((entry) => {
    const [, name = '', granted = '', token = ''] = /^([\w.-]+):([^:]+):(\S{16,})$/.exec(entry) ?? []
    const grants = parseGrants(granted)
    if (name && grants) return { name, grants, token }
    context.addIssue({ code: 'custom', message: TOKEN_FORM })
    return []
  }),
)

/** Which grants a group brings; `*` stands for everybody who is let in. */
export type GroupRoles = readonly { readonly group: string; readonly grants: readonly Grant[] }[]
const groupRoles = list.transform(
  (entries, context): GroupRoles =>
    entries.flatMap((entry) => {
      const [, group = '', granted = ''] = /^(.+)=([^=]+)$/.exec(entry) ?? []
      const grants = parseGrants(granted)
      if (group && grants) return { group, grants }
      context.addIssue({ code: 'custom', message: 'must look like GROUP=viewer,GROUP=operator@PROJECT,*=viewer' })
      return []
    }),
)
/** Who is let in may do everything, unless told otherwise. */
const EVERYTHING: GroupRoles = [{ group: '*', grants: [{ role: 'admin' }] }]

/** Every environment variable that Weir reads, under the name that the code uses. */
const variables = {
  databaseUrl: ['DB_URL', z.string().optional()],
  dataFolder: ['DATA_FOLDER', z.string().default(join(packageFolder, '.weir'))],
  host: ['HOST', z.string().default('127.0.0.1')],
  port: ['PORT', whole(0, 65_535).default(8080)],
  logLevel: ['LOGGING_LEVEL', z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info')],
  /** A path, or `stderr`. Unset: standard error, unless somebody looks at it. */
  logFile: ['LOGGING_FILE', z.string().optional()],
  encryptionSecret: ['ENCRYPTION_SECRET', z.string().min(16, 'must have at least 16 characters').optional()],
  /** Read by `weir secrets rotate` alone. */
  newEncryptionSecret: ['NEW_ENCRYPTION_SECRET', z.string().min(16, 'must have at least 16 characters').optional()],
  queueUrl: ['QUEUE_URL', z.url({ protocol: /^rediss?$/, error: 'must look like redis://host:6379' }).optional()],
  /** Over all servers of a database; 0: as many as there are. */
  pipelineMaxParallel: ['PIPELINE_MAX_PARALLEL', whole(0).default(1)],
  resumePipelines: ['RESUME_PIPELINES', flag.default(true)],
  consumePipelines: ['CONSUME_PIPELINES', flag.default(true)],
  subtaskDefaults: [
    'ENABLE_SUBTASKS_BY_DEFAULT',
    list
      .refine(
        (entries) => entries.every((entry) => /^[^:]+:.+:(true|false)$/.test(entry)),
        'must look like jira:collectIssues:true,…',
      )
      .default([]),
  ],
  apiTimeoutMs: ['API_TIMEOUT', duration.default(120_000)],
  apiRetry: ['API_RETRY', whole(0).default(3)],
  /** Of connections without a limit of their own, to sources that do not tell their quota. */
  apiRequestsPerHour: ['API_REQUESTS_PER_HOUR', whole(1).optional()],
  trustsAnyCertificate: ['IN_SECURE_SKIP_VERIFY', flag.default(false)],
  hidesTestFailures: ['WRAP_RESPONSE_ERROR', flag.default(false)],
  skipCommitStat: ['SKIP_COMMIT_STAT', flag.default(false)],
  skipCommitFiles: ['SKIP_COMMIT_FILES', flag.default(true)],
  gitAllowLocal: ['GIT_ALLOW_LOCAL', flag.default(false)],
  /** 0: kept for ever. */
  logRetentionDays: ['LOG_RETENTION_DAYS', whole(0).default(90)],
  jiraFullRefresh: ['JIRA_JQL_AUTO_FULL_REFRESH', flag.default(false)],
  pushApiAllowedTables: ['PUSH_API_ALLOWED_TABLES', list.default([])],
  notificationEndpoint: ['NOTIFICATION_ENDPOINT', z.url().optional()],
  notificationSecret: ['NOTIFICATION_SECRET', z.string().optional()],
  auth: ['AUTH', z.enum(['none', 'token', 'oidc']).optional()],
  authEnabled: ['AUTH_ENABLED', flag.default(false)],
  authToken: [
    'AUTH_TOKEN',
    z
      .string()
      .regex(/^\S{16,}$/, 'must have at least 16 characters and no blanks')
      .optional(),
  ],
  authTokens: ['AUTH_TOKENS', roleTokens.default([])],
  /** Whose X-Forwarded-For, -Proto and -Host count. They say where a request comes from, never who sends it. */
  trustedProxies: [
    'TRUSTED_PROXIES',
    list
      .refine((entries) => entries.every(isNetwork), 'must be addresses or networks such as 10.0.0.7,10.1.0.0/16')
      .default([]),
  ],
  /** A proxy that signs people in sends it as X-Weir-Proxy-Secret, beside X-Forwarded-User. */
  proxyIdentitySecret: [
    'PROXY_IDENTITY_SECRET',
    z
      .string()
      .regex(/^[\x21-\x7e]{32,}$/, 'must have at least 32 characters and no blanks')
      .optional(),
  ],
  proxyIdentityRoles: ['PROXY_IDENTITY_ROLES', groupRoles.default(EVERYTHING)],
  /** Names by which AUTH=none may be reached, beside addresses and names without a dot. */
  allowedHosts: ['ALLOWED_HOSTS', list.default([])],
  requestsPerMinute: ['REQUESTS_PER_MINUTE', whole(0).default(6000)],
  /** Of a request's head, of all of it, and between two of them. */
  headerTimeoutMs: ['HEADER_TIMEOUT', duration.default(10_000)],
  requestTimeoutMs: ['REQUEST_TIMEOUT', duration.default(60_000)],
  keepAliveTimeoutMs: ['KEEP_ALIVE_TIMEOUT', duration.default(72_000)],
  mostConnections: ['MAX_CONNECTIONS', whole(1).default(1000)],
  mostEventStreams: ['MAX_EVENT_STREAMS', whole(0).default(200)],
  endpointBlocked: ['ENDPOINT_CIDR_BLACKLIST', list.default([])],
  endpointAllowed: ['ENDPOINT_CIDR_ALLOWED', list.default([])],
  sessionSecret: ['SESSION_SECRET', z.string().min(32, 'must have at least 32 characters').optional()],
  sessionTtlMs: ['SESSION_TTL', duration.default(8 * 3_600_000)],
  cookieSecure: ['COOKIE_SECURE', flag.default(true)],
  cookieDomain: ['COOKIE_DOMAIN', z.string().optional()],
  oidcEnabled: ['OIDC_ENABLED', flag.default(false)],
  oidcProviders: ['OIDC_PROVIDERS', list.default([])],
  oidcLogoutRedirect: ['OIDC_LOGOUT_REDIRECT', flag.default(false)],
} satisfies Record<string, readonly [string, z.ZodType]>

const oidcProviderVariables = {
  issuerUrl: ['ISSUER_URL', z.url()],
  clientId: ['CLIENT_ID', z.string()],
  clientSecret: ['CLIENT_SECRET', z.string().optional()],
  redirectUrl: ['REDIRECT_URL', z.url()],
  scopes: ['SCOPES', list.default(['openid', 'profile', 'email'])],
  displayName: ['DISPLAY_NAME', z.string().optional()],
  allowedDomains: ['ALLOWED_DOMAINS', list.default([])],
  allowedEmails: ['ALLOWED_EMAILS', list.default([])],
  allowedGroups: ['ALLOWED_GROUPS', list.default([])],
  groupsClaim: ['GROUPS_CLAIM', z.string().default('groups')],
  roles: ['ROLES', groupRoles.default(EVERYTHING)],
} satisfies Record<string, readonly [string, z.ZodType]>

type Variables = Record<string, readonly [string, z.ZodType]>
type Parsed<V extends Variables> = { readonly [K in keyof V]: z.output<V[K][1]> }

export type OidcProvider = Parsed<typeof oidcProviderVariables> & { readonly name: string }
export type Config = Parsed<typeof variables> & { readonly oidc: readonly OidcProvider[] }

export type Environment = Readonly<Record<string, string | undefined>>

/** Reads the environment once; the result never changes. */
export function readConfig(environment: Environment): Config {
  const values = parse(variables, environment)
  const oidc = values.oidcProviders.map((name) => ({
    name,
    ...parse(oidcProviderVariables, environment, `OIDC_${name.toUpperCase().replaceAll('-', '_')}_`),
  }))
  return deepFreeze({ ...values, dataFolder: resolve(values.dataFolder), oidc })
}

const SECRETS = [
  'encryptionSecret',
  'newEncryptionSecret',
  'notificationSecret',
  'sessionSecret',
  'authToken',
  'proxyIdentitySecret',
] as const
const ADDRESSES = ['databaseUrl', 'queueUrl', 'notificationEndpoint'] as const

/** What no log may show. */
export function secretsOf(config: Config): readonly string[] {
  const tokens = [
    ...config.oidc.map(({ clientSecret }) => clientSecret),
    ...config.authTokens.map(({ token }) => token),
  ]
  const plain = [...SECRETS.map((name) => config[name]), ...tokens]
  const inAddresses = ADDRESSES.flatMap((name) => addressSecrets(config[name] ?? ''))
  return [...plain, ...inAddresses].filter((secret) => secret !== undefined)
}

function parse<V extends Variables>(wanted: V, environment: Environment, prefix = ''): Parsed<V> {
  const entries = Object.entries(wanted).map(([key, [suffix, schema]]) => {
    const name = prefix + suffix
    // Compose files and .env templates leave variables empty to mean "not set".
    const result = schema.safeParse(environment[name]?.trim() || undefined)
    // The value itself may be a secret: the message names the variable only.
    if (!result.success) throw new UserError(`${name} is wrong: ${result.error.issues[0]?.message}.`)
    return [key, result.data]
  })
  return Object.fromEntries(entries)
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze)
    Object.freeze(value)
  }
  return value
}
