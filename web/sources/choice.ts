/** Shared by all ways of choosing scopes. */
import type { RemoteScope } from '../api/description.ts'
import type { Source } from '../api/sources.ts'

export interface Choice {
  readonly source: Source
  readonly connectionId: number
  /** Ids of scopes that the connection already has. */
  readonly known: ReadonlySet<string>
  readonly isChosen: (id: string) => boolean
  readonly isFixed: (id: string) => boolean
  add(scopes: readonly RemoteScope[]): void
  remove(ids: readonly string[]): void
}

export const HEIGHT = 'min(52vh, 520px)'
