import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../src/config/config.ts'
import { oidcProvider } from '../../src/config/settings.ts'
import { interpolate, interpolateAll, variablesIn } from './support/interpolate.ts'
import { defaultPort, isCommand, isPinnedImage, isSecretName, isSetting, read, root, version } from './support/weir.ts'

interface Service {
  readonly image: string
  readonly build?: string
  readonly profiles?: readonly string[]
  readonly command?: string | readonly string[]
  readonly env_file?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly restart?: string
  readonly mem_limit?: string
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly networks?: readonly string[] | Readonly<Record<string, { readonly aliases?: readonly string[] }>>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string; readonly required?: boolean }>>
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean }
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly user?: string
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>
  readonly volumes: Readonly<Record<string, unknown>>
}

const text = read('deploy/compose.yaml')
const exampleText = read('deploy/example.env')
const compose: Compose = parse(text, { merge: true })
const services = Object.entries(compose.services)
const ofWeir = services.filter(([, { image }]) => image.includes('WEIR_IMAGE'))

/** The example file with all values filled in, even those that it only suggests. */
const example = Object.fromEntries(
  [...exampleText.matchAll(/^#?([A-Z0-9_]+)=(.*)$/gm)].map(([, name = '', value = '']): [string, string] => [
    name,
    value || (name.endsWith('_ENDPOINT') ? 'https://store.example.com' : `${name}-for-tests-0123456789`),
  ]),
)
const NOT_TOGETHER = ['DB_URL', 'ADMIN_DB_URL', 'WEIR_ADMIN', 'TRUSTED_PROXIES', 'BACKUP_FOLDER']
const suggested = Object.fromEntries(Object.entries(example).filter(([name]) => !NOT_TOGETHER.includes(name)))
const filledFor = (engine: string): Record<string, string> => ({
  ...interpolateAll(suggested, suggested),
  WEIR_ENGINE: engine,
})

/** The environment of a container: the lines of the env file, overridden by the settings in the compose file itself. */
function environmentOf({ env_file: files = [], environment = {} }: Service, file: Readonly<Record<string, string>>) {
  const own = interpolateAll(environment, file)
  const paths = interpolateAll(files, file)
  expect(paths.filter((path) => path !== '.env')).toEqual([])
  return paths.length === 0 ? own : { ...file, ...own }
}

/** Splits a command as a shell would. No command in the file uses quotes. */
const wordsOf = (command: string | readonly string[], file: Readonly<Record<string, string>>): readonly string[] =>
  typeof command === 'string' ? interpolate(command, file).split(/\s+/) : interpolateAll(command, file)

/** The settings that docs/configuration.md lists. Settings of a sign-in provider get the name of one, WORK. */
const documented = [...read('docs/configuration.md').matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map(([, name = '']) =>
  Object.values(oidcProvider).some(([each]) => each === name) ? `OIDC_WORK_${name}` : name,
)

describe('compose.yaml', () => {
  it('has the services and profiles that docs/install.md promises', () => {
    const profiles = Object.fromEntries(services.map(([name, { profiles: own = [] }]) => [name, own]))
    expect(profiles).toEqual({
      server: [],
      worker: ['workers'],
      postgres: ['postgres'],
      backup: ['backup'],
      mysql: ['mysql'],
      'grafana-reader': ['grafana'],
      'grafana-dashboards': ['grafana'],
      grafana: ['grafana'],
    })
  })

  it.each(services)('%s: networks, volumes and services that it names exist', (_name, service) => {
    const networks = Array.isArray(service.networks) ? service.networks : Object.keys(service.networks ?? {})
    for (const network of networks) expect(Object.keys(compose.networks)).toContain(network)
    for (const volume of interpolateAll(service.volumes ?? [], filledFor('postgres'))) {
      const [source = ''] = volume.split(':')
      if (/^[a-z]/.test(source)) expect(Object.keys(compose.volumes)).toContain(source)
    }
    for (const [other, { required = true }] of Object.entries(service.depends_on ?? {})) {
      const { profiles = [] } = compose.services[other] as Service
      const isAlwaysThere = profiles.length === 0 || service.profiles?.some((profile) => profiles.includes(profile))
      expect(isAlwaysThere || !required, `${other} may be missing`).toBe(true)
    }
  })

  it('every volume and network is used', () => {
    const used = JSON.stringify(services.map(([, { volumes, networks }]) => [volumes, networks]))
    for (const name of [...Object.keys(compose.volumes), ...Object.keys(compose.networks)]) expect(used).toContain(name)
  })

  it('waits only for services that say when they are healthy', () => {
    for (const [, service] of services) {
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        const { healthcheck, image } = compose.services[other] as Service
        const isFromImage = image.includes('WEIR_IMAGE') && !healthcheck?.disable
        if (condition === 'service_healthy') expect(healthcheck?.test !== undefined || isFromImage, other).toBe(true)
      }
    }
  })

  it.each(['postgres', 'mysql'])('with %s: files exist, images are pinned, and Weir accepts its settings', (engine) => {
    const environment = filledFor(engine)
    const filled: Compose = interpolateAll(compose, environment)
    for (const [name, { image, volumes = [] }] of Object.entries(filled.services)) {
      expect(isPinnedImage(image), `${name}: ${image}`).toBe(true)
      for (const [source = ''] of volumes.map((volume) => volume.split(':'))) {
        if (source.startsWith('.')) expect(existsSync(join(root, 'deploy', source)), source).toBe(true)
      }
    }
    const config = readConfig(environmentOf(compose.services.server as Service, environment))
    const { protocol, hostname, username, password, pathname } = new URL(config.databaseUrl ?? '')
    expect({ protocol, hostname, username, pathname }).toEqual({
      protocol: `${engine}:`,
      hostname: 'database',
      username: 'weir',
      pathname: '/lake',
    })
    expect(password).toBe(environment.DATABASE_PASSWORD)
    const { networks, environment: ofDatabase } = compose.services[engine] as Service
    expect(JSON.stringify(networks)).toContain('"database"')
    expect(Object.values(ofDatabase ?? {})).toEqual(expect.arrayContaining(['weir', 'lake']))
    expect(config.runTasksOn).toBe('workers')
    expect(config.auth).toBe('token')
  })

  it('the image of the server is the version of the package', () => {
    expect(ofWeir.map(([, { image }]) => image)).toEqual(ofWeir.map(() => `\${WEIR_IMAGE:-weir:${version}}`))
  })

  it.each(ofWeir)('%s: command and settings are those of Weir', (_name, { command = [], environment = {} }) => {
    expect(isCommand(wordsOf(command, {})), String(command)).toBe(true)
    expect(isCommand(wordsOf(command, filledFor('postgres'))), String(command)).toBe(true)
    for (const name of Object.keys(environment)) expect(isSetting(name), name).toBe(true)
  })

  it.each(ofWeir)('%s: cannot write to its own files, and has no rights of the system', (_name, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  })

  it.each(['server', 'worker', 'backup'])('%s: every setting of docs/configuration.md reaches it', (name) => {
    expect(documented).toEqual(expect.arrayContaining(['AUTH_TOKEN', 'RAW_RETENTION_DAYS', 'OIDC_WORK_ISSUER_URL']))
    expect(documented.length).toBeGreaterThan(60)
    const file = Object.fromEntries(documented.map((each) => [each, `chosen for ${each}`]))
    expect(environmentOf(compose.services[name] as Service, file)).toMatchObject(file)
  })

  it('has no opinion of its own on settings, but on those of a container', () => {
    const { DATABASE_PASSWORD, ENCRYPTION_SECRET } = filledFor('postgres')
    const file = { DATABASE_PASSWORD, ENCRYPTION_SECRET } as Record<string, string>
    const config = readConfig(environmentOf(compose.services.server as Service, file))
    const usual = readConfig({})
    const names = Object.keys(config) as (keyof typeof config)[]
    const other = names.filter((name) => JSON.stringify(config[name]) !== JSON.stringify(usual[name]))
    expect(other.sort()).toEqual(['auth', 'dataFolder', 'databaseUrl', 'encryptionSecret', 'metricsPort'])
  })

  it.each(services)('%s: has a limit of memory, and says whether it is well if it runs on', (name, service) => {
    expect(interpolate(service.mem_limit ?? '', {}), name).toMatch(/^\d+[mg]$/)
    const ends = service.restart === 'no' || service.restart?.startsWith('on-failure')
    const { healthcheck, image } = service
    const isChecked = healthcheck?.test !== undefined || (image.includes('WEIR_IMAGE') && !healthcheck?.disable)
    expect(isChecked).toBe(!ends)
  })

  it('whatever asks the database reaches one of its owner, too', () => {
    const asking = services.filter(([, { environment = {} }]) => environment.DB_URL)
    expect(asking.map(([name]) => name).sort()).toEqual(['backup', 'grafana-reader', 'server', 'worker'])
    for (const [name, { networks }] of [...asking, ['grafana', compose.services.grafana as Service] as const]) {
      expect(
        (networks as string[]).some((each) => !compose.networks[each]?.internal),
        name,
      ).toBe(true)
    }
    const own = { ...filledFor('mysql'), DB_URL: 'mysql://weir@db.example.com/lake' }
    const urlFor = (file: Record<string, string>) =>
      environmentOf(compose.services['grafana-reader'] as Service, file).DB_URL
    expect(urlFor(own)).toBe(own.DB_URL)
    expect(urlFor({ ...own, ADMIN_DB_URL: 'mysql://root@db.example.com/lake' })).toBe(
      'mysql://root@db.example.com/lake',
    )
    expect(new URL(urlFor({ ...filledFor('mysql'), WEIR_ADMIN: 'root' }) ?? '').username).toBe('root')
  })

  it('publishes the port that the server listens on, for this machine only', () => {
    const { ports } = interpolateAll(compose.services.server as Service, filledFor('postgres'))
    expect(ports).toEqual([`127.0.0.1:8080:${defaultPort}`])
    const moved = { ...filledFor('postgres'), PORT: '9000' }
    expect(interpolateAll(compose.services.server as Service, moved).ports).toEqual(['127.0.0.1:8080:9000'])
  })

  it('has no secret in clear', () => {
    for (const [name, { environment = {} }] of services) {
      for (const [variable, value] of Object.entries(environment)) {
        if (isSecretName(variable)) expect(value, `${name}: ${variable}`).toMatch(/^\$\{/)
      }
    }
    expect(text).not.toMatch(/:\/\/\w+:[^$\s{]+@/)
    for (const [, name, value] of exampleText.matchAll(/^#?([A-Z0-9_]+)=(.*)$/gm)) {
      if (isSecretName(name as string)) expect(value, name).toMatch(/^$|\$\{/)
    }
  })

  it.each(['DATABASE_PASSWORD', 'ENCRYPTION_SECRET'])('says what to do when %s is missing', (name) => {
    const { [name]: _missing, ...rest } = filledFor('postgres')
    expect(() => interpolateAll(compose.services.server, rest)).toThrow(`${name}: set it in deploy/.env`)
  })

  it('every variable is a setting, or is in example.env', () => {
    const unexplained = variablesIn(text).filter((name) => !isSetting(name) && !(name in example))
    expect(unexplained).toEqual([])
  })

  it('Grafana finds dashboards and datasource where they are', () => {
    const { volumes = [], environment = {} } = compose.services.grafana as Service
    const mounted = volumes.map((volume) => volume.split(':'))
    const provider = parse(read('deploy/grafana/dashboards.yaml')).providers[0].options.path
    const [source, target = ''] = mounted.find(([, path = '']) => path !== '/' && provider.startsWith(`${path}/`)) ?? []
    const writer = compose.services['grafana-dashboards'] as Service
    const command = wordsOf(writer.command ?? [], {})
    const out = command.at(-1) ?? ''
    expect(writer.volumes).toEqual([`${source}:/${out.split('/')[1]}`])
    expect(provider.slice(target.length)).toBe(out.slice(`/${out.split('/')[1]}`.length))
    for (const engine of ['postgres', 'mysql']) {
      const datasource = read(`deploy/grafana/datasource-${engine}.yaml`)
      expect(parse(datasource).datasources[0]).toMatchObject({ uid: command[5], user: 'weir_reader' })
      for (const [, name] of datasource.matchAll(/\$(\w+)/g)) expect(Object.keys(environment)).toContain(name)
    }
  })
})
