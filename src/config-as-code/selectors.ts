/** Scopes chosen by rule, such as every repository of an organisation that is not archived. */
import { UserError } from '../errors.ts'
import { openClient } from '../plugin-kit/connection.ts'
import type { ApiClient } from '../plugin-kit/http/index.ts'
import { compilePattern, matches } from '../plugin-kit/patterns.ts'
import type { PluginSpec, Settings } from '../plugin-kit/plugin.ts'
import type { RemoteEntry } from '../plugin-kit/remote-scopes.ts'

export interface Selector {
  readonly scopes: readonly (string | Settings)[]
  readonly except: readonly string[]
  readonly archived: boolean
  readonly topic?: string | undefined
}

const isPattern = (scope: string | Settings): scope is string => typeof scope === 'string'

/** `*` stands for anything but a slash, `**` for anything. Many stars would keep a backtracking matcher busy for ever. */
export function globOf(pattern: string): { test(name: string): boolean } {
  const source = pattern
    .split(/(\*+)/)
    .map((part) => (part === '*' ? '[^/]*' : part.startsWith('**') ? '.*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')))
    .join('')
  const compiled = compilePattern(`(?i)^${source}$`, pattern)
  return { test: (name) => matches(compiled, name) }
}

const MOST_PAGES = 1000
const WAIT_MS = 120_000

/** The scopes that a selector chooses now, asked of the source. */
export async function chooseScopes(
  source: PluginSpec,
  settings: Settings,
  selector: Selector,
  signal = AbortSignal.timeout(WAIT_MS),
): Promise<Settings[]> {
  const given = selector.scopes.filter((scope) => !isPattern(scope)) as Settings[]
  const patterns = selector.scopes.filter(isPattern)
  if (patterns.length === 0) return given
  if (!source.scope.remote) {
    throw new UserError(`${source.title} cannot be asked for its scopes: write them as objects with their fields.`)
  }
  const client = openClient(source, settings)
  try {
    const found = new Map<string, RemoteEntry>()
    for (const pattern of patterns) {
      for (const entry of await entriesOf(source, settings, client, pattern, signal)) found.set(entry.id, entry)
    }
    const excluded = selector.except.map(globOf)
    const chosen = [...found.values()].filter(
      (entry) =>
        (selector.archived || !entry.archived) &&
        (selector.topic === undefined || entry.topics?.includes(selector.topic)) &&
        !excluded.some((glob) => glob.test(entry.fullName)),
    )
    return [...given, ...chosen.map(({ data }) => data as Settings)]
  } finally {
    await client.close()
  }
}

async function entriesOf(
  source: PluginSpec,
  settings: Settings,
  client: ApiClient,
  pattern: string,
  signal: AbortSignal,
) {
  const glob = globOf(pattern)
  // `acme/*` needs one group asked; `*/web` all of them.
  const literal = pattern.slice(0, pattern.search(/[*/]/) + 1 || undefined).replace(/[*/]$/, '')
  const isOneGroup = pattern.startsWith(`${literal}/`)
  const seen = new Set<string>()
  const found: RemoteEntry[] = []
  const walk = async (group: string | undefined): Promise<void> => {
    for await (const entry of pagesOf(source, settings, client, group, signal)) {
      if (entry.type === 'scope') {
        if (glob.test(entry.fullName)) found.push(entry)
      } else if (!seen.has(entry.id)) {
        seen.add(entry.id)
        await walk(entry.id)
      }
    }
  }
  await walk(isOneGroup ? literal : undefined)
  return found
}

async function* pagesOf(
  source: PluginSpec,
  settings: Settings,
  client: ApiClient,
  group: string | undefined,
  signal: AbortSignal,
) {
  const inGroup = group === undefined ? {} : { group }
  let page: unknown
  for (let count = 0; count < MOST_PAGES; count++) {
    const { children, next } = await source.scope.remote!.list({
      client,
      settings,
      signal,
      ...inGroup,
      ...(page !== undefined && { page }),
    })
    yield* children
    if (next === undefined) return
    page = next
  }
}
