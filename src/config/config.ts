import { resolve } from 'node:path'
import type { z } from 'zod'
import { UserError } from '../errors.ts'
import { addressSecrets } from '../secrets/address-secrets.ts'
import { oidcProvider, type Settings, variables } from './settings.ts'

export { type Grant, type GroupRoles, ROLES, type Role, type RoleToken } from './config-values.ts'

type Parsed<V extends Settings> = { readonly [K in keyof V]: z.output<V[K][1]> }

export type OidcProvider = Parsed<typeof oidcProvider> & { readonly name: string }
export type Config = Parsed<typeof variables> & { readonly oidc: readonly OidcProvider[] }

export type Environment = Readonly<Record<string, string | undefined>>

/** Reads the settings. The result is frozen. */
export function readConfig(environment: Environment): Config {
  const values = parse(variables, withoutLeftOver(environment))
  const oidc = values.oidcProviders.map((name) => ({
    name,
    ...parse(oidcProvider, environment, `OIDC_${name.toUpperCase().replaceAll('-', '_')}_`),
  }))
  return deepFreeze({ ...values, dataFolder: resolve(values.dataFolder), oidc })
}

const has = (environment: Environment, name: string) => (environment[name]?.trim() ?? '') !== ''

/** Returns one sentence for each setting that an older version had and this one has not. */
export function leftOverSettings(environment: Environment): readonly string[] {
  if (!has(environment, 'QUEUE_URL')) return []
  const instead = has(environment, 'RUN_TASKS_ON') ? 'remove it' : 'remove it, and set RUN_TASKS_ON=workers'
  return [`QUEUE_URL is no longer used: ${instead}. Workers take tasks from the database, without Redis.`]
}

/** Installations that set QUEUE_URL used workers, so they keep using them. */
const withoutLeftOver = (environment: Environment): Environment =>
  has(environment, 'QUEUE_URL') && !has(environment, 'RUN_TASKS_ON')
    ? { ...environment, RUN_TASKS_ON: 'workers' }
    : environment

const SECRETS = [
  'encryptionSecret',
  'newEncryptionSecret',
  'oldEncryptionSecret',
  'notificationSecret',
  'sessionSecret',
  'authToken',
  'otlpHeaders',
  'proxyIdentitySecret',
  'awsSecretAccessKey',
  'awsSessionToken',
] as const
const ADDRESSES = ['databaseUrl', 'notificationEndpoint', 'otlpEndpoint'] as const

/** The values that no log may show. */
export function secretsOf(config: Config): readonly string[] {
  const tokens = [
    ...config.oidc.map(({ clientSecret }) => clientSecret),
    ...config.authTokens.map(({ token }) => token),
  ]
  const plain = [...SECRETS.map((name) => config[name]), ...tokens]
  const inAddresses = ADDRESSES.flatMap((name) => addressSecrets(config[name] ?? ''))
  return [...plain, ...inAddresses].filter((secret) => secret !== undefined)
}

function parse<V extends Settings>(wanted: V, environment: Environment, prefix = ''): Parsed<V> {
  const entries = Object.entries(wanted).map(([key, [suffix, schema]]) => {
    const name = prefix + suffix
    // Compose files and .env templates contain empty variables, which mean "not set".
    const result = schema.safeParse(environment[name]?.trim() || undefined)
    // The value may be a secret, so the message names only the variable.
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
