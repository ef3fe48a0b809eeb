/** Routes for fields that users add to domain tables, and for the import of CSV files. */
import { z } from 'zod'
import {
  body,
  example,
  longText,
  nullAsAbsent,
  queryFlag,
  type Route,
  route,
  uploadedFile,
} from '../../plugin-kit/index.ts'
import { type CsvFile, csvFiles } from './csv-files.ts'
import { createField, deleteField, FIELD_TYPES, type FieldType, listFields } from './fields.ts'
import { importCsv } from './import-csv.ts'

const base = '/plugins/customize'
const subject = 'custom field'

const field = z
  .object({
    columnName: z.string(),
    displayName: z.string(),
    dataType: z.string(),
    description: z.string(),
    isCustomizedField: z.boolean().meta({ description: 'Added by a user; its name begins with x_.' }),
  })
  .meta({ id: 'Field' })
const newField = body(
  {
    columnName: z.string().meta({ description: 'x_ and then at most 50 letters, digits and underscores.' }),
    displayName: z.string().trim().min(1, 'is empty: name the field for people').max(255),
    dataType: z.enum(Object.keys(FIELD_TYPES) as FieldType[]),
    description: nullAsAbsent(longText),
  },
  ['isCustomizedField'],
).meta(example({ columnName: 'x_risk', displayName: 'Risk', dataType: 'varchar(255)' }))
const params = z.object({ table: z.string() })

const fieldRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: `${base}/:table/fields`,
    summary: 'Fields of a domain table',
    least: 'viewer',
    size: 'none',
    cost: 'light',
    params,
    answer: z.array(field),
    failures: [404],
    run: ({ params: { table } }, { database }) => listFields(database, table),
  }),
  route({
    method: 'POST',
    path: `${base}/:table/fields`,
    summary: 'Add a field to a domain table',
    least: 'admin',
    size: 'settings',
    cost: 'light',
    params,
    body: newField,
    answer: field,
    failures: [404],
    run: ({ params: { table }, body: values }, server) => {
      const change = { action: 'create', subject, key: `${table}.${values.columnName}` } as const
      return createField(server.database, table, values, (inside) =>
        server.record(inside, { ...change, after: values }),
      )
    },
  }),
  route({
    method: 'DELETE',
    path: `${base}/:table/fields/:field`,
    summary: 'Delete a field that was added, with all its values',
    least: 'admin',
    size: 'small',
    cost: 'light',
    params: params.extend({ field: z.string() }),
    failures: [404],
    run: ({ params: { table, field: column } }, server) => {
      const change = { action: 'delete', subject, key: `${table}.${column}`, after: null } as const
      return deleteField(server.database, table, column, (inside) => server.record(inside, change))
    },
  }),
]

const name = z.string().trim().min(1, 'is empty').max(255)
const formOf = ({ owner, isNamed, isAlwaysWhole }: CsvFile) =>
  z.object({
    file: uploadedFile,
    [owner.idField]: name,
    ...(isNamed && { [owner.nameField]: name }),
    ...(!isAlwaysWhole && {
      incremental: queryFlag.meta({ description: 'Add to earlier imports instead of replacing them.' }),
    }),
  })

const csvFileRoute = (csvFile: CsvFile): Route =>
  route({
    method: 'POST',
    path: `${base}/csvfiles/${csvFile.name}`,
    summary: `Import ${csvFile.name}; its columns are those of ${csvFile.tables[0].name}`,
    least: 'admin',
    size: 'file',
    cost: 'heavy',
    body: formOf(csvFile),
    failures: [413],
    runInThread: async (request, server) => {
      const form = request.body as Readonly<Record<string, unknown>>
      const { idField, nameField } = csvFile.owner
      const ownerId = form[idField] as string
      const isIncremental = form.incremental === true
      const target = { ownerId, ownerName: form[nameField] as string | undefined, isIncremental }
      const change = { action: 'update', subject: csvFile.name, key: ownerId } as const
      await server.doRecorded(change, async (inside) => ({
        lines: await importCsv(inside, csvFile, form.file as Buffer, target),
        isIncremental,
      }))
    },
  })

export const customizeRoutes: readonly Route[] = [...fieldRoutes, ...csvFiles.map(csvFileRoute)]
