/** Fields that users add to domain tables: columns whose names begin with `x_`, and a registry that describes them. */

import { sql } from 'kysely'
import type { AnyTable } from '../../database/table.ts'
import {
  bigint,
  type Column,
  defineTable,
  double,
  key,
  optional,
  string,
  text,
  timestamp,
  written,
} from '../../database/table.ts'
import { domainTables } from '../../domain/index.ts'
import { issueCustomArrayFields, issues } from '../../domain/ticket.ts'
import { UserError } from '../../errors.ts'
import { knowing, type TaskRun, write } from '../../plugin-kit/index.ts'

export type Database = TaskRun['database']

export const customizedFields = defineTable(
  '_tool_customized_fields',
  {
    tb_name: key(string()),
    column_name: key(string()),
    display_name: string(),
    data_type: string(),
    description: text(),
    ...written,
  },
  { meaning: 'Fields that users added to domain tables.', idPrefix: 'customize:CustomizedField' },
)

export const FIELD_TYPES = {
  'varchar(255)': optional(string()),
  text: optional(text()),
  bigint: optional(bigint()),
  float: optional(double()),
  timestamp: timestamp(),
} satisfies Record<string, Column>
export type FieldType = keyof typeof FIELD_TYPES

interface NewField {
  readonly columnName: string
  readonly displayName: string
  readonly dataType: FieldType
  readonly description?: string | undefined
}
interface Field {
  readonly columnName: string
  readonly displayName: string
  readonly dataType: string
  readonly description: string
  readonly isCustomizedField: boolean
}

const NAME = /^x_[A-Za-z0-9_]{0,50}$/
function requireName(name: string): void {
  if (!NAME.test(name)) {
    throw new UserError(`"${name}" must be x_ and then at most 50 letters, digits and underscores.`)
  }
}

export function domainTable(name: string): AnyTable {
  const table = domainTables.find((each) => each.name === name)
  if (!table) throw new UserError(`${name} is not a domain table.`, { status: 404 })
  return table
}

/** Names a type in the same way on both database engines. */
function typeName({ kind, size }: { readonly kind: string; readonly size?: number | null }): string {
  if (kind === 'string') return `varchar(${size})`
  return kind === 'double' ? 'float' : kind
}

/** Reads the `x_` columns that the table has now. For a column that was added by hand, only the type is known. */
const customFields = async (database: Database, { name }: AnyTable): Promise<Field[]> =>
  (await addedFields(database, [name])).map(({ table: _, ...field }) => field)

/** Reads the fields of every table of the domain layer. */
export const allFields = (database: Database) =>
  addedFields(
    database,
    domainTables.map(({ name }) => name),
  )

async function addedFields(
  database: Database,
  names: readonly string[],
): Promise<(Field & { readonly table: string })[]> {
  const live = await database.describe()
  const registered = await knowing(database.kysely, customizedFields)
    .selectFrom(customizedFields.name)
    .selectAll()
    .execute()
  return names.flatMap((table) =>
    [...(live.get(table)?.columns ?? [])]
      .filter(([name]) => name.startsWith('x_'))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, { type, size }]) => {
        const known = registered.find(({ tb_name, column_name }) => tb_name === table && column_name === name)
        return {
          table,
          columnName: name,
          displayName: known?.display_name ?? '',
          dataType: known?.data_type ?? typeName({ kind: type, size }),
          description: known?.description ?? '',
          isCustomizedField: true,
        }
      }),
  )
}

export async function listFields(database: Database, tableName: string): Promise<Field[]> {
  const table = domainTable(tableName)
  const own = table.names.map((columnName) => ({
    columnName,
    displayName: '',
    dataType: typeName(table.columns[columnName]),
    description: '',
    isCustomizedField: false,
  }))
  return [...own, ...(await customFields(database, table))]
}

const columnOf = (dataType: string): Column => FIELD_TYPES[dataType as FieldType] ?? FIELD_TYPES.text
const extended = (table: AnyTable, fields: readonly Pick<Field, 'columnName' | 'dataType'>[]): AnyTable =>
  defineTable(
    table.name,
    {
      ...table.columns,
      ...Object.fromEntries(fields.map(({ columnName, dataType }) => [columnName, columnOf(dataType)])),
    },
    { keyOrder: table.keys.map((position) => table.names[position] as string) },
  )

/** The table with the fields that users added to it. */
export const withFields = async (database: Database, table: AnyTable): Promise<AnyTable> =>
  extended(table, await customFields(database, table))

/**
 * Changes the fields of one table, one change after the other. Only one of the database engines undoes the change of the table if
 * writing to the registry fails.
 */
const changing = <Result>(database: Database, tableName: string, change: (database: Database) => Promise<Result>) =>
  database.locked(`fields of ${tableName}`, () => database.transaction(change))

/** A function that runs in the transaction of the change. */
type AtEnd = (inside: Database) => Promise<void>

export async function createField(
  database: Database,
  tableName: string,
  field: NewField,
  atEnd: AtEnd = async () => {},
): Promise<Field> {
  const table = domainTable(tableName)
  const { columnName, displayName, dataType, description = '' } = field
  requireName(columnName)
  return changing(database, tableName, async (inside) => {
    const existing = await customFields(inside, table)
    // One database engine does not distinguish capital letters in column names.
    const same = existing.find((each) => each.columnName.toLowerCase() === columnName.toLowerCase())
    if (same)
      throw new UserError(`${tableName} already has ${same.columnName}: choose another name, or delete it first.`)
    const { quote, columnType } = inside.dialect
    const type = columnType(FIELD_TYPES[dataType], extended(table, [...existing, field]))
    await sql.raw(`alter table ${quote(tableName)} add column ${quote(columnName)} ${type}`).execute(inside.kysely)
    await describeField(inside, tableName, field)
    await atEnd(inside)
    return { columnName, displayName, dataType, description, isCustomizedField: true }
  })
}

/** Deletes a field with all its values. It is not an error if the field does not exist. */
export async function deleteField(
  database: Database,
  tableName: string,
  columnName: string,
  atEnd: AtEnd = async () => {},
): Promise<void> {
  const table = domainTable(tableName)
  requireName(columnName)
  await changing(database, tableName, async (inside) => {
    const { quote } = inside.dialect
    if ((await customFields(inside, table)).some((each) => each.columnName === columnName)) {
      await sql.raw(`alter table ${quote(tableName)} drop column ${quote(columnName)}`).execute(inside.kysely)
    }
    await knowing(inside.kysely, customizedFields)
      .deleteFrom(customizedFields.name)
      .where('tb_name', '=', tableName)
      .where('column_name', '=', columnName)
      .execute()
    if (table === issues) {
      await inside.kysely.deleteFrom(issueCustomArrayFields.name).where('field_id', '=', columnName).execute()
    }
    await atEnd(inside)
  })
}

/** Writes the description of an existing field. */
async function describeField(database: Database, tableName: string, field: NewField): Promise<void> {
  const { columnName, displayName, dataType, description = '' } = field
  await write(database, [
    customizedFields.row({
      tb_name: tableName,
      column_name: columnName,
      display_name: displayName,
      data_type: dataType,
      description,
    }),
  ])
}

/** The functions for config files that contain fields. */
export const ownFields = {
  types: Object.keys(FIELD_TYPES) as FieldType[],
  list: allFields,
  /** Refuses a name that no field can have. */
  require(tableName: string, columnName: string): void {
    domainTable(tableName)
    requireName(columnName)
  },
  create: createField,
  describe: describeField,
  remove: deleteField,
}
