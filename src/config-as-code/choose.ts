/** Finds the scopes that a selector chooses now. A selector that chooses nothing is refused, since it is usually misspelt. */

import { hintOf } from '../basics/nearest.ts'
import type { Scope } from '../control-plane/records.ts'
import { publicName } from '../control-plane/store.ts'
import { UserError } from '../errors.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import type { RemoteEntry } from '../plugin-kit/spec/remote-scopes.ts'
import { scopeKey } from '../plugin-kit/task/source-task.ts'
import type { Path } from './config-file.ts'
import { requireKnown } from './known-fields.ts'
import { type Catalogue, fitting, isAbsent, isPattern, namesOutright, type Selector } from './selectors.ts'
import { idOfScope } from './stored-scopes.ts'

export interface ChosenScope {
  readonly id: string
  readonly data: Settings
  /** True if the selector itself contains the scope, and the source was not asked. */
  readonly isWritten: boolean
  /** The entry in the list of the source. */
  readonly entry?: RemoteEntry
}

interface Choosing {
  readonly source: PluginSpec
  /** Opened with the first request. */
  catalogue(): Catalogue
  /** Returns the scopes that the connection has. */
  stored(): Promise<readonly Scope[]>
  /** Whether selectors may match nothing. */
  readonly allowsEmpty: boolean
  /** Says how to do it anyway, such as `use --allow-empty`. */
  readonly insist: string
  /** Runs `act`, whose errors then name the place in the selector. */
  at<Result>(path: Path, act: () => Result | Promise<Result>): Promise<Result>
  refusal(path: Path, message: string): Error
}

export async function choose(choosing: Choosing, selector: Selector): Promise<ChosenScope[]> {
  const { source, allowsEmpty, insist } = choosing
  const { scopes } = selector
  const found = new Map<string, ChosenScope>()
  const offered = new Map<string, RemoteEntry>()
  for (const [index, scope] of scopes.entries()) {
    const place = ['scopes', index]
    if (isPattern(scope)) {
      const { entries, known } = await choosing.at(place, () => entriesOf(choosing, place, scope))
      for (const entry of entries) offered.set(entry.id, entry)
      if (known) found.set(known.id, known)
    } else {
      const written = await choosing.at(place, () => writtenScope(source, scope))
      found.set(written.id, written)
    }
  }
  const chosen = fitting(offered.values(), selector)
  if (!allowsEmpty) requireNamed(choosing, selector, offered.values(), chosen)
  for (const entry of chosen) {
    const data = entry.data as Settings
    const id = idOfScope(source, data)
    if (!found.has(id)) found.set(id, { id, data, isWritten: false, entry })
  }
  if (found.size === 0 && scopes.length > 0 && !allowsEmpty) {
    const why = offered.size > 0 ? `except, archived and topic leave none of ${offered.size}` : 'nothing matches'
    throw choosing.refusal([], `this selector matches nothing: ${why}. Correct it, or ${insist}.`)
  }
  return [...found.values()]
}

/** A scope that the selector names but leaves out by `except` or `topic` must be a mistake. */
function requireNamed(
  { refusal, insist }: Choosing,
  selector: Selector,
  offered: Iterable<RemoteEntry>,
  chosen: readonly RemoteEntry[],
): void {
  const names = namesOutright(selector).map((name) => name.toLowerCase())
  const missing = [...offered].find(
    (entry) => names.includes(entry.fullName.toLowerCase()) && !chosen.some(({ id }) => id === entry.id),
  )
  if (!missing) return
  const { topic } = selector
  const why =
    topic !== undefined && !missing.topics?.includes(topic) ? `it has no topic ${topic}` : 'except leaves it out'
  throw refusal(
    ['scopes'],
    `${missing.fullName} is named here, but ${why}. Give it a selector of its own, or leave it out; or ${insist}.`,
  )
}

/** Returns what the source offers under a name or pattern. A stored scope that the source no longer shows also counts. */
async function entriesOf(
  choosing: Choosing,
  path: Path,
  pattern: string,
): Promise<{ entries: readonly RemoteEntry[]; known?: ChosenScope }> {
  const { source, allowsEmpty, insist } = choosing
  const catalogue = choosing.catalogue()
  const entries = await catalogue.matching(pattern).catch((error) => (isAbsent(error) ? [] : Promise.reject(error)))
  if (entries.length > 0) return { entries }
  const known = (await choosing.stored()).find(({ fullName }) => fullName === pattern)
  if (known) return { entries, known: { id: idOfScope(source, known), data: known, isWritten: false } }
  if (allowsEmpty) return { entries }
  const hint = hintOf(pattern, await catalogue.names())
  throw choosing.refusal(
    path,
    `${source.title} has nothing called ${pattern} that this connection can see${hint} Correct it, or ${insist}.`,
  )
}

function writtenScope(source: PluginSpec, data: Settings): ChosenScope {
  const names = source.scope.table.names.map(publicName)
  requireKnown(names, data)
  const key = publicName(scopeKey(source))
  if (data[key] === undefined || data[key] === null || data[key] === '' || data[key] === 0) {
    throw new UserError(`${key} is missing: it names the scope.`)
  }
  return { id: idOfScope(source, data), data, isWritten: true }
}
