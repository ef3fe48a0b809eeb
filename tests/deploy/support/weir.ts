/** Names that files of deploy/ may use: the actual settings, commands and routes of Weir. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import packageFile from '../../../package.json' with { type: 'json' }
import { commandsFor } from '../../../src/cli/index.ts'
import { oidcProvider, variables } from '../../../src/config/settings.ts'

export const root = join(import.meta.dirname, '../../..')
export const read = (path: string): string => readFileSync(join(root, path), 'utf8')
export const { version } = packageFile

/** Variables of Node and git, and of single commands (docs/configuration.md). */
const OTHERS = ['NODE_EXTRA_CA_CERTS', 'GIT_SSL_CAPATH', 'NODE_ENV', 'HOME', 'TMPDIR', 'READER_PASSWORD']

const names = new Set([...Object.values(variables).map(([name]) => name), ...OTHERS])
const ofProviders = Object.values(oidcProvider).map(([name]) => name)
export const isSetting = (name: string): boolean =>
  names.has(name) || (name.startsWith('OIDC_') && ofProviders.some((each) => name.endsWith(`_${each}`)))

const commands = await commandsFor(undefined)
/** Checks words after `weir`: a command, its subcommand if it has subcommands, and options that it has. */
export function isCommand([first = '', ...rest]: readonly string[]): boolean {
  const command = commands.find((each) => each.name() === first)
  const subcommands = command?.commands ?? []
  const last = subcommands.length === 0 ? command : subcommands.find((each) => each.name() === rest[0])
  const options = rest.filter((word) => word.startsWith('--'))
  return last !== undefined && options.every((option) => last.options.some(({ long }) => long === option))
}

/** Probes must work without signing in. */
export const isProbe = (path: string): boolean => ['/ping', '/ready', '/health'].includes(path)

export const defaultPort = variables.port[1].parse(undefined)

/** A name with a tag that contains a version, never `latest`. */
export const isPinnedImage = (image: string): boolean =>
  /^[a-z0-9./-]+:(?!latest$)[\w.-]*\d[\w.-]*(@sha256:[0-9a-f]{64})?$/.test(image)

export const isSecretName = (name: string): boolean => /(PASSWORD|SECRET|TOKEN|_URL)$/.test(name)
