/** Finds the domain rows that represent a scope. A repository, for example, is a row in `repos` and one in `boards`. */

import { preparedOnly } from '../../basics/user-patterns.ts'
import type { TableRow } from '../../database/table.ts'
import { RecordError } from '../../errors.ts'
import type { Entity } from '../../plugin-kit/spec/entity.ts'
import { idMaker } from '../../plugin-kit/spec/id-of.ts'
import type { DomainScope } from '../../plugin-kit/spec/plan.ts'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import type { DomainType } from '../../plugin-kit/spec/subtask.ts'
import type { SettingsRow } from '../sources.ts'

const TABLE_OF: Record<DomainType, string> = {
  CODE: 'repos',
  CODEREVIEW: 'repos',
  CROSS: 'repos',
  CICD: 'cicd_scopes',
  TICKET: 'boards',
  CODEQUALITY: 'cq_projects',
}
export const ALL_ENTITIES = Object.keys(TABLE_OF) as DomainType[]

/** Ignores words that are not domain types. When none is left, all types are meant. */
export function entitiesOf(words: readonly string[] | null | undefined): ReadonlySet<DomainType> {
  const known = ALL_ENTITIES.filter((entity) => words?.includes(entity))
  return new Set(known.length > 0 ? known : ALL_ENTITIES)
}

export function domainScopesOf(
  source: PluginSpec,
  connectionId: number,
  scope: SettingsRow,
  entities: ReadonlySet<DomainType>,
): DomainScope[] {
  const wanted = new Set([...entities].map((entity) => TABLE_OF[entity]))
  return rowsOf(source, connectionId, scope)
    .filter(({ table }) => wanted.has(table.name))
    .map(domainScopeOf)
}

export const domainScopeOf = ({ table, cells }: TableRow): DomainScope => ({
  table: table.name,
  rowId: String(cells[table.names.indexOf('id')]),
})

/** The conversion of the scope itself says which rows it becomes, so that ids are made in one place. */
function rowsOf(source: PluginSpec, connectionId: number, scope: SettingsRow): readonly TableRow[] {
  try {
    return convertedOf(source, connectionId, scope)
  } catch (error) {
    // The scope was stored without the fields that its row ids are made of. It has no domain rows, and can still be deleted.
    if (error instanceof RecordError) return []
    throw error
  }
}

/** The conversion of any entity; which entity belongs to the scope is known only at run time. */
type Rows = NonNullable<NonNullable<Entity['spec']['convert']>['rows']>
type Row = Parameters<Rows>[0]
type Context = Parameters<Rows>[1]

function convertedOf(source: PluginSpec, connectionId: number, scope: SettingsRow): readonly TableRow[] {
  const idOf = idMaker(connectionId)
  const entity = source.entities.find(({ table, spec }) => table === source.scope.table && spec.convert)
  const context = {
    connectionId,
    connection: { endpoint: source.connection.endpoint },
    scope,
    scopeConfig: preparedOnly(() => source.scopeConfig.prepare({})),
    idOf,
    lookups: {},
  }
  return [...(entity?.spec.convert?.rows(scope as Row, context as Context) ?? [])]
}
