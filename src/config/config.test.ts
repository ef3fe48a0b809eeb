import { describe, expect, it } from 'vitest'
import { leftOverSettings, readConfig } from './config.ts'

describe('readConfig', () => {
  it('has a default for everything', () => {
    const config = readConfig({})
    expect(config).toMatchObject({ port: 8080, host: '127.0.0.1', apiTimeoutMs: 120_000 })
    expect(config.databaseUrl).toBeUndefined()
    expect(config.dataFolder).toMatch(/\/\.weir$/)
  })

  it('takes an empty variable as one that is not set', () => {
    expect(readConfig({ PORT: '', DB_URL: ' ' })).toEqual(readConfig({}))
  })

  it('reads numbers, durations, flags and lists', () => {
    expect(
      readConfig({
        PORT: '9000',
        API_TIMEOUT: '1m30s',
        SESSION_TTL: '45',
        RESUME_PIPELINES: 'false',
        PUSH_API_ALLOWED_TABLES: 'issues, repos,',
      }),
    ).toMatchObject({
      port: 9000,
      apiTimeoutMs: 90_000,
      sessionTtlMs: 45_000,
      resumePipelines: false,
      pushApiAllowedTables: ['issues', 'repos'],
    })
  })

  it('reads the variables of each OpenID provider', () => {
    const config = readConfig({
      OIDC_PROVIDERS: 'corp-sso',
      OIDC_CORP_SSO_ISSUER_URL: 'https://sso.example',
      OIDC_CORP_SSO_CLIENT_ID: 'weir',
      OIDC_CORP_SSO_REDIRECT_URL: 'https://weir.example/callback',
    })
    expect(config.oidc).toMatchObject([{ name: 'corp-sso', clientId: 'weir', scopes: ['openid', 'profile', 'email'] }])
    expect(() => readConfig({ OIDC_PROVIDERS: 'corp' })).toThrow(/^OIDC_CORP_ISSUER_URL is wrong/)
  })

  it.each([
    [{ PORT: '99999' }, 'PORT'],
    [{ PORT: 'eighty' }, 'PORT'],
    [{ API_TIMEOUT: 'soon' }, 'API_TIMEOUT'],
    [{ LOGGING_LEVEL: 'loud' }, 'LOGGING_LEVEL'],
    [{ ENCRYPTION_SECRET: 'too-short' }, 'ENCRYPTION_SECRET'],
    [{ AUTH: 'maybe' }, 'AUTH'],
  ])('names the variable that is wrong, never its value: %o', (environment, name) => {
    const message = (() => {
      try {
        readConfig(environment)
        return ''
      } catch (error) {
        return String(error)
      }
    })()
    expect(message).toMatch(new RegExp(`^UserError: ${name} is wrong: .+\\.$`))
    expect(message).not.toContain(Object.values(environment)[0])
  })

  it('cannot be changed', () => {
    const config = readConfig({ OIDC_PROVIDERS: '' })
    expect(Object.isFrozen(config) && Object.isFrozen(config.pushApiAllowedTables)).toBe(true)
  })

  it.each([
    [{}, 'server', []],
    [{ QUEUE_URL: ' ' }, 'server', []],
    [{ RUN_TASKS_ON: 'workers' }, 'workers', []],
    [
      { QUEUE_URL: 'any://host' },
      'workers',
      [/^QUEUE_URL is no longer used: remove it, and set RUN_TASKS_ON=workers\./],
    ],
    [{ QUEUE_URL: 'any://host', RUN_TASKS_ON: 'server' }, 'server', [/^QUEUE_URL is no longer used: remove it\./]],
  ])('tells in %j where tasks run, and what is left over', (environment, runTasksOn, sentences) => {
    expect(readConfig(environment).runTasksOn).toBe(runTasksOn)
    expect(leftOverSettings(environment)).toEqual(sentences.map((sentence) => expect.stringMatching(sentence)))
  })
})
