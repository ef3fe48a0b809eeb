/** Selectors choose scopes by rules, such as every repository of an organisation that is not archived. */
import { setImmediate as othersFirst } from 'node:timers/promises'
import { UserError } from '../errors.ts'
import { HttpFatalError } from '../plugin-kit/http/index.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { type RemoteEntry, readAnswer } from '../plugin-kit/spec/remote-scopes.ts'
import { openClient } from '../plugin-kit/task/connection.ts'

export interface Selector {
  readonly scopes: readonly (string | Settings)[]
  readonly except: readonly string[]
  readonly archived: boolean
  readonly topic?: string | undefined
}

/** Longer than any name. Every name of a source is compared with each pattern, so patterns must be short. */
export const LONGEST_PATTERN = 500

export const isPattern = (scope: string | Settings): scope is string => typeof scope === 'string'

/** Returns the names without a star. */
export const namesOutright = ({ scopes }: Selector): string[] =>
  scopes.filter(isPattern).filter((each) => !each.includes('*'))

export interface Glob {
  test(name: string): boolean
}

/** `*` matches anything except a slash, and `**` matches anything. Upper and lower case are the same. */
export function globOf(pattern: string): Glob {
  const parts = pattern
    .toLowerCase()
    .split(/(\*+)/)
    .flatMap((part): readonly Part[] => (part.startsWith('*') ? [part === '*' ? ONE_LEVEL : ALL_LEVELS] : [...part]))
  return { test: (name) => fits(parts, name.toLowerCase()) }
}
type Part = string | symbol
const ONE_LEVEL = Symbol('*')
const ALL_LEVELS = Symbol('**')

/** Matches without backtracking: it keeps the set of all places in the pattern to which the beginning of the name may have led. */
function fits(parts: readonly Part[], name: string): boolean {
  const isStar = (place: number) => typeof parts[place] === 'symbol'
  const reach = (places: Set<number>, place: number) => {
    for (let next = place; ; next++) {
      places.add(next)
      if (!isStar(next)) return
    }
  }
  let places = new Set<number>()
  reach(places, 0)
  for (const letter of name) {
    const next = new Set<number>()
    for (const place of places) {
      const part = parts[place]
      if (part === ALL_LEVELS || (part === ONE_LEVEL && letter !== '/')) reach(next, place)
      else if (part === letter) reach(next, place + 1)
    }
    places = next
  }
  return places.has(parts.length)
}

const MOST_PAGES = 1000
/** The number of names that are compared before other work gets its turn. */
const AT_ONCE = 100
const WAIT_MS = 120_000

/** The scopes that a source offers, read only once. */
export interface Catalogue {
  /** Returns every scope that matches a pattern. */
  matching(pattern: string): Promise<readonly RemoteEntry[]>
  /** Returns the full names of all entries that were seen, and of groups that can be requested. */
  names(): Promise<readonly string[]>
  close(): Promise<void>
}

export function openCatalogue(
  source: PluginSpec,
  settings: Settings,
  until?: AbortSignal,
  open: typeof openClient = openClient,
): Catalogue {
  const { remote } = source.scope
  if (!remote) {
    throw new UserError(`${source.title} cannot be asked for its scopes: write them as objects with their fields.`)
  }
  const client = open(source, settings)
  const groups = new Map<string | undefined, Promise<readonly RemoteEntry[]>>()

  async function read(group: string | undefined): Promise<readonly RemoteEntry[]> {
    const signal = until ?? AbortSignal.timeout(WAIT_MS)
    const found: RemoteEntry[] = []
    let page: unknown
    for (let count = 0; count < MOST_PAGES; count++) {
      const inGroup = { ...(group !== undefined && { group }), ...(page !== undefined && { page }) }
      const { children, next } = await remote!.list({ client, settings, signal, ...inGroup })
      found.push(...children)
      if (next === undefined) break
      page = next
    }
    return found
  }
  function listOf(group: string | undefined): Promise<readonly RemoteEntry[]> {
    const known = groups.get(group) ?? readAnswer(source.title, () => read(group))
    groups.set(group, known)
    return known
  }
  async function walk(group: string | undefined, seen = new Set<string>()): Promise<readonly RemoteEntry[]> {
    const scopes: RemoteEntry[] = []
    for (const entry of await listOf(group)) {
      if (entry.type === 'scope') scopes.push(entry)
      else if (!seen.has(entry.id)) {
        seen.add(entry.id)
        scopes.push(...(await walk(entry.id, seen)))
      }
    }
    return scopes
  }

  return {
    async matching(pattern) {
      const glob = globOf(pattern)
      // `acme/*` needs only one group, but `*/web` needs all of them.
      const literal = pattern.slice(0, pattern.search(/[*/]/) + 1 || undefined).replace(/[*/]$/, '')
      const isOneGroup = pattern.startsWith(`${literal}/`)
      const found: RemoteEntry[] = []
      for (const [index, entry] of (await walk(isOneGroup ? literal : undefined)).entries()) {
        if (index % AT_ONCE === 0) await othersFirst()
        if (glob.test(entry.fullName)) found.push(entry)
      }
      return found
    },
    async names() {
      const lists = await Promise.allSettled([listOf(undefined), ...groups.values()])
      const all = lists.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
      return [...new Set(all.map(({ fullName }) => fullName))]
    },
    close: () => client.close(),
  }
}

/** The group does not exist in the source, or this connection cannot see it. */
export const isAbsent = (error: unknown): boolean => error instanceof HttpFatalError && error.status === 404

/** An archived repository is chosen if the selector names it exactly. Patterns match archived ones only if `archived` is set. */
export function fitting(entries: Iterable<RemoteEntry>, selector: Selector): RemoteEntry[] {
  const { except, archived, topic } = selector
  const excluded = except.map(globOf)
  const named = new Set(namesOutright(selector).map((name) => name.toLowerCase()))
  return [...entries].filter(
    (entry) =>
      (archived || !entry.archived || named.has(entry.fullName.toLowerCase())) &&
      (topic === undefined || entry.topics?.includes(topic)) &&
      !excluded.some((glob) => glob.test(entry.fullName)),
  )
}

/** Asks the source for the scopes that a selector chooses now. */
export async function chooseScopes(
  source: PluginSpec,
  settings: Settings,
  selector: Selector,
  signal?: AbortSignal,
): Promise<Settings[]> {
  const written = selector.scopes.filter((scope) => !isPattern(scope)) as Settings[]
  const patterns = selector.scopes.filter(isPattern)
  if (patterns.length === 0) return written
  const catalogue = openCatalogue(source, settings, signal)
  try {
    const found = new Map<string, RemoteEntry>()
    for (const pattern of patterns) {
      for (const entry of await catalogue.matching(pattern)) found.set(entry.id, entry)
    }
    return [...written, ...fitting(found.values(), selector).map(({ data }) => data as Settings)]
  } finally {
    await catalogue.close()
  }
}
