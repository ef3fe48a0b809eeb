/** The first things that a person who started the server wants to know. */
import { relative } from 'node:path'
import { accessMode, tokenFile } from '../api/access/access-token.ts'
import type { Config } from '../config/config.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { logFileOf } from './runtime.ts'

const SIGN_IN: Readonly<Record<ReturnType<typeof accessMode>, (config: Config) => string>> = {
  open: () => 'not needed: only this machine can connect',
  none: () => 'not needed: AUTH=none, so everybody who can connect may use it',
  token: (config) => (config.authToken ? 'with the token of AUTH_TOKEN' : `with the token in ${tokenFile(config)}`),
  oidc: ({ oidc }) => `with ${oidc.map(({ name, displayName = name }) => displayName).join(' or ')}`,
}

/** The settings that another terminal needs for commands to mean this server, not the one in the usual folder. */
function settingsBefore({ dataFolder }: Config): string {
  if (!process.env.DATA_FOLDER) return ''
  const near = relative(process.cwd(), dataFolder)
  const path = near === '' || near.startsWith('..') ? dataFolder : near
  return `DATA_FOLDER=${/^[\w./-]+$/.test(path) ? path : `"${path}"`} `
}

async function nextOf({ services }: ControlPlane, before: string): Promise<string[]> {
  const { count, items } = await services.projects.list({ pageSize: 1 })
  const [newest] = items
  if (!newest) {
    return [
      'open it in a browser: it guides you to the first numbers',
      'or describe a project in weir.yaml, as README.md shows',
    ]
  }
  const { count: runs } = await services.pipelines.list({ pageSize: 1 })
  const collect = `${before}npx weir collect ${/^[\w.-]+$/.test(newest.name) ? newest.name : `"${newest.name}"`}`
  return [runs === 0 ? collect : `${count} ${count === 1 ? 'project' : 'projects'}; ${collect} runs one now`]
}

export async function welcome(config: Config, control: ControlPlane, address: string): Promise<string> {
  const file = logFileOf(config)
  const before = settingsBefore(config)
  const lines: readonly (readonly [string, string])[] = [
    ['Open', address],
    ['Sign in', SIGN_IN[accessMode(config)](config)],
    ...(await nextOf(control, before)).map((line, index) => [index === 0 ? 'Next' : '', line] as const),
    ...(before ? [['Commands', `${before}npx weir … (in another terminal)`] as const] : []),
    ['Routes', `${address}/swagger`],
    ['Log', file ? `${file} (LOGGING_FILE=stderr: here)` : 'standard error (LOGGING_FILE=PATH: a file)'],
    ['Stop', 'Ctrl-C'],
  ]
  return ['', ...lines.map(([name, text]) => `  ${name.padEnd(9)}${text}`), ''].join('\n')
}
