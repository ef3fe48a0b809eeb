import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../src/config.ts'
import { interpolateAll, variablesIn } from './support/interpolate.ts'
import { defaultPort, isCommand, isPinnedImage, isSecretName, isSetting, read, root, version } from './support/weir.ts'

interface Service {
  readonly image: string
  readonly build?: string
  readonly profiles?: readonly string[]
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
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
  readonly networks: Readonly<Record<string, unknown>>
  readonly volumes: Readonly<Record<string, unknown>>
}

const text = read('deploy/compose.yaml')
const exampleText = read('deploy/example.env')
const compose: Compose = parse(text, { merge: true })
const services = Object.entries(compose.services)
const ofWeir = services.filter(([, { image }]) => image.includes('WEIR_IMAGE'))

/** The example, filled in: also what it only suggests. */
const example = Object.fromEntries(
  [...exampleText.matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [
    name,
    value || `${name}-for-tests-0123456789`,
  ]),
)
const { DB_URL: _, WEIR_ADMIN: __, ...suggested } = example
const filledFor = (engine: string) => {
  const { TRUSTED_PROXIES: ___, ...rest } = interpolateAll(suggested, suggested as Record<string, string>)
  return { ...rest, WEIR_ENGINE: engine } as Record<string, string>
}

describe('compose.yaml', () => {
  it('has the services and profiles that docs/install.md promises', () => {
    const profiles = Object.fromEntries(services.map(([name, { profiles: own = [] }]) => [name, own]))
    expect(profiles).toEqual({
      server: [],
      worker: ['workers'],
      postgres: ['postgres'],
      mysql: ['mysql'],
      'grafana-reader': ['grafana'],
      'grafana-dashboards': ['grafana'],
      grafana: ['grafana'],
    })
  })

  it.each(services)('%s: networks, volumes and services that it names exist', (_name, service) => {
    const networks = Array.isArray(service.networks) ? service.networks : Object.keys(service.networks ?? {})
    for (const network of networks) expect(Object.keys(compose.networks)).toContain(network)
    for (const volume of service.volumes ?? []) {
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
    const settings = filled.services.server?.environment ?? {}
    const config = readConfig(settings)
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
    expect(isCommand(command), command.join(' ')).toBe(true)
    for (const name of Object.keys(environment)) expect(isSetting(name), name).toBe(true)
  })

  it.each(ofWeir)('%s: cannot write to its own files, and has no rights of the system', (_name, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  })

  it('publishes the port that the server listens on, for this machine only', () => {
    const { ports } = interpolateAll(compose.services.server as Service, filledFor('postgres'))
    expect(ports).toEqual([`127.0.0.1:8080:${defaultPort}`])
  })

  it('has no secret in clear', () => {
    for (const [name, { environment = {} }] of services) {
      for (const [variable, value] of Object.entries(environment)) {
        if (isSecretName(variable)) expect(value, `${name}: ${variable}`).toMatch(/^\$\{/)
      }
    }
    expect(text).not.toMatch(/:\/\/\w+:[^$\s{]+@/)
    for (const [, name, value] of exampleText.matchAll(/^#?([A-Z_]+)=(.*)$/gm)) {
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
    const out = writer.command?.at(-1) ?? ''
    expect(writer.volumes).toEqual([`${source}:/${out.split('/')[1]}`])
    expect(provider.slice(target.length)).toBe(out.slice(`/${out.split('/')[1]}`.length))
    for (const engine of ['postgres', 'mysql']) {
      const datasource = read(`deploy/grafana/datasource-${engine}.yaml`)
      expect(parse(datasource).datasources[0]).toMatchObject({ uid: writer.command?.[5], user: 'weir_reader' })
      for (const [, name] of datasource.matchAll(/\$(\w+)/g)) expect(Object.keys(environment)).toContain(name)
    }
  })
})
