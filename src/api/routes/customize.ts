import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Action, doRecorded, recordChange } from '../../audit/record.ts'
import type { Database } from '../../database/database.ts'
import { type CsvFile, csvFiles } from '../../plugins/customize/csv-files.ts'
import { createField, deleteField, FIELD_TYPES, type FieldType, listFields } from '../../plugins/customize/fields.ts'
import { importCsv } from '../../plugins/customize/import-csv.ts'
import { actorOf } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { answers, example, queryFlag, success } from '../contract/common.ts'
import { body, given, longText } from '../contract/lenient.ts'
import { done } from '../envelope.ts'
import { consumes, file as fileField, uploadRoutes } from '../upload.ts'

const tags = ['customize']
const base = '/plugins/customize'

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
    description: given(longText),
  },
  ['isCustomizedField'],
).meta(example({ columnName: 'x_risk', displayName: 'Risk', dataType: 'varchar(255)' }))

/** Fields that users add to domain tables. */
const fieldRoutes: Routes = (api, { database }) => {
  const params = z.object({ table: z.string() })
  api.get(
    `${base}/:table/fields`,
    { schema: { tags, summary: 'Fields of a domain table', params, response: answers(200, z.array(field), 404) } },
    ({ params: { table } }) => listFields(database, table),
  )
  const recorded =
    (request: FastifyRequest, action: Action, key: string, after: unknown) =>
    ({ kysely }: Database) =>
      recordChange(kysely, actorOf(request), { action, subject: 'custom field', key, before: null, after })
  api.post(
    `${base}/:table/fields`,
    {
      schema: {
        tags,
        summary: 'Add a field to a domain table',
        params,
        body: newField,
        response: answers(200, field, 404),
      },
    },
    async (request) => {
      const { table } = request.params
      const key = `${table}.${request.body.columnName}`
      return createField(database, table, request.body, recorded(request, 'create', key, request.body))
    },
  )
  api.delete(
    `${base}/:table/fields/:field`,
    {
      schema: {
        tags,
        summary: 'Delete a field that was added, with all its values',
        params: params.extend({ field: z.string() }),
        response: answers(200, success, 404),
      },
    },
    async (request) => {
      const { table, field: column } = request.params
      await deleteField(database, table, column, recorded(request, 'delete', `${table}.${column}`, null))
      return done()
    },
  )
}

const name = z.string().trim().min(1, 'is empty').max(255)
const formOf = ({ owner, isNamed, isAlwaysWhole }: CsvFile) =>
  z.object({
    file: fileField,
    [owner.idField]: name,
    ...(isNamed && { [owner.nameField]: name }),
    ...(!isAlwaysWhole && {
      incremental: queryFlag.meta({ description: 'Add to what was imported before, instead of taking its place.' }),
    }),
  })

/** CSV files into domain tables. */
const csvFileRoutes: Routes = (api, { database }) =>
  uploadRoutes(api, (routes) => {
    for (const csvFile of csvFiles) {
      const { owner, tables } = csvFile
      routes.post(
        `${base}/csvfiles/${csvFile.name}`,
        {
          schema: {
            tags,
            summary: `Import ${csvFile.name}; its columns are those of ${tables[0].name}`,
            consumes,
            body: formOf(csvFile),
            response: answers(200, success, 413),
          },
        },
        async (request) => {
          const form = request.body as Record<string, any>
          const ownerId: string = form[owner.idField]
          const isIncremental: boolean = form.incremental ?? false
          const target = { ownerId, ownerName: form[owner.nameField], isIncremental }
          const change = { action: 'update', subject: csvFile.name, key: ownerId } as const
          await doRecorded(database, actorOf(request), change, async (inside) => ({
            lines: await importCsv(inside, csvFile, form.file, target),
            isIncremental,
          }))
          return done()
        },
      )
    }
  })

export const customizeRoutes: Routes = (api, context) => {
  fieldRoutes(api, context)
  csvFileRoutes(api, context)
}
