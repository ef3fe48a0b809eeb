/** Columns that users add to domain tables. A file adds them and changes their titles. It never deletes a column with its values. */
import { recordChange } from '../control-plane/audit/record.ts'
import type { Database } from '../database/database.ts'
import { UserError } from '../errors.ts'
import { ownFields } from '../plugins/index.ts'
import { change } from './change.ts'
import type { Path } from './config-file.ts'
import type { ConfigContext, Reconciling } from './context.ts'
import type { Config, FieldConfig } from './document.ts'

type StoredField = Awaited<ReturnType<typeof ownFields.list>>[number]

interface WantedField {
  readonly path: Path
  readonly table: string
  readonly name: string
  readonly config: FieldConfig
}
export interface NewField extends WantedField {
  /** Added before the transaction for everything else, because one database engine commits a transaction when a column is added. */
  readonly isNew: true
}

const SUBJECT = 'custom field'
const wantedFields = ({ document }: Config): WantedField[] =>
  Object.entries(document.fields).flatMap(([table, columns]) =>
    Object.entries(columns).map(([name, config]) => ({ path: ['fields', table, name], table, name, config })),
  )

/** Returns the fields that do not exist yet. An existing field with another type is refused, because its values would be lost. */
export async function missingFields(config: Config, database: Database): Promise<NewField[]> {
  const wanted = wantedFields(config)
  if (wanted.length === 0) return []
  const stored = await ownFields.list(database)
  const missing: NewField[] = []
  for (const each of wanted) {
    await config.file.at(each.path, () => {
      ownFields.require(each.table, each.name)
      const found = storedAs(stored, each)
      if (found) requireSame(each, found)
      else missing.push({ ...each, isNew: true })
    })
  }
  return missing
}

/** One database engine does not distinguish capital letters in column names. */
const storedAs = (stored: readonly StoredField[], { table, name }: WantedField) =>
  stored.find((each) => each.table === table && each.columnName.toLowerCase() === name.toLowerCase())

function requireSame({ table, name, config: { type } }: WantedField, { columnName, dataType }: StoredField): void {
  if (columnName !== name)
    throw new UserError(`${table} already has ${columnName}: write it so, or choose another name.`)
  if (dataType === type) return
  throw new UserError(
    `type of ${table}.${name} is ${dataType}, and the file says ${type}: correct the file, or delete the field with its values first.`,
  )
}

/** Adds columns and runs `body`. If `body` fails, the columns are removed again, since they have no values yet. */
export async function withNewFields<Result>(
  fields: readonly NewField[],
  { control: { database }, actor }: Pick<ConfigContext, 'control' | 'actor'>,
  body: () => Promise<Result>,
): Promise<Result> {
  const made: NewField[] = []
  const recorded =
    (action: 'create' | 'delete', { table, name }: NewField, after: object | null) =>
    ({ kysely }: Database) =>
      recordChange(kysely, actor, { action, subject: SUBJECT, key: `${table}.${name}`, before: null, after })
  try {
    for (const each of fields) {
      const { type, title, description } = each.config
      const after = { columnName: each.name, displayName: title, dataType: type, description }
      await ownFields.create(database, each.table, after, recorded('create', each, after))
      made.push(each)
    }
    return await body()
  } catch (error) {
    for (const each of made) {
      await ownFields.remove(database, each.table, each.name, recorded('delete', each, null))
    }
    throw error
  }
}

/** Reports new columns, and changes the titles and descriptions of the others. */
export async function reconcileFields(reconciling: Reconciling, missing: readonly NewField[]): Promise<void> {
  const { changes, config, database, actor } = reconciling
  for (const { path, table, name, config: field } of wantedFields(config)) {
    const { type, title, description } = field
    const subject = `field ${name} of ${table}`
    if (missing.some((each) => each.table === table && each.name === name)) {
      const told = Object.entries({ type, title, description }).filter(([, value]) => value !== '')
      changes.push({
        action: 'create',
        subject,
        fields: told.map(([each, after]) => ({ name: each, before: null, after })),
      })
      continue
    }
    const read = async () => {
      const found = storedAs(await ownFields.list(database), { path, table, name, config: field })
      return found && { title: found.displayName, description: found.description }
    }
    const before = await read()
    if (before?.title === title && before.description === description) continue
    await change(reconciling, {
      subject,
      read,
      async write() {
        await ownFields.describe(database, table, { columnName: name, displayName: title, dataType: type, description })
        const after = { title, description }
        await recordChange(database.kysely, actor, {
          action: 'update',
          subject: SUBJECT,
          key: `${table}.${name}`,
          before,
          after,
        })
      },
    })
  }
}

/** Exports all fields that a file can add again. */
export async function exportFields(database: Database): Promise<Record<string, Record<string, FieldConfig>>> {
  const known = (await ownFields.list(database)).filter(({ dataType }) =>
    ownFields.types.some((type) => type === dataType),
  )
  const tables = Map.groupBy(known, ({ table }) => table)
  return Object.fromEntries(
    [...tables]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([table, fields]) => [
        table,
        Object.fromEntries(
          fields.map(({ columnName, dataType, displayName, description }) => [
            columnName,
            {
              type: dataType,
              ...(displayName && { title: displayName }),
              ...(description && { description }),
            } as FieldConfig,
          ]),
        ),
      ]),
  )
}
