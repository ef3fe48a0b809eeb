/** Finds the scopes that a selector chooses now, so that people can check before they use it. */

import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import type { RemoteEntry } from '../plugin-kit/spec/remote-scopes.ts'
import { openAwaitedClient } from '../plugin-kit/task/connection.ts'
import { fitting, isAbsent, openCatalogue, type Selector } from './selectors.ts'

interface Matches {
  readonly count: number
  /** Ordered by name, and at most as many as requested. */
  readonly scopes: readonly RemoteEntry[]
  /** Patterns that match nothing that the source shows. */
  readonly unmatched: readonly string[]
}

export async function matchesOf(
  source: PluginSpec,
  settings: Settings,
  selector: Selector & { readonly scopes: readonly string[] },
  most: number,
  signal: AbortSignal,
): Promise<Matches> {
  const catalogue = openCatalogue(source, settings, signal, openAwaitedClient)
  try {
    const found = new Map<string, RemoteEntry>()
    const unmatched: string[] = []
    for (const pattern of selector.scopes) {
      const entries = await catalogue.matching(pattern).catch((error) => {
        if (isAbsent(error)) return []
        throw error
      })
      if (entries.length === 0) unmatched.push(pattern)
      for (const entry of entries) found.set(entry.id, entry)
    }
    const scopes = fitting(found.values(), selector).sort((left, right) => (left.fullName < right.fullName ? -1 : 1))
    return { count: scopes.length, scopes: scopes.slice(0, most), unmatched }
  } finally {
    await catalogue.close()
  }
}
