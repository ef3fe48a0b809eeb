import type { AnyTable } from '../../database/table.ts'
import { domainId } from '../../domain/ids.ts'

export interface IdOf {
  (table: AnyTable, ...key: readonly (string | number)[]): string
  /** Null when part of the key is unknown. */
  (table: AnyTable, ...key: readonly (string | number | null | undefined)[]): string | null
}

/** Domain ids of a connection's tool rows: `<plugin>:<Entity>:<connection>:<key>…`. */
export const idMaker = (connectionId: number): IdOf =>
  ((table: AnyTable, ...key: readonly string[]) => domainId(table.idPrefix, connectionId, ...key)) as IdOf
