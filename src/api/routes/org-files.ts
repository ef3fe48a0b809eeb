import { z } from 'zod'
import { recordChange } from '../../audit/record.ts'
import { openCsv } from '../../plugin-kit/csv.ts'
import { orgFiles, takeOrgFile } from '../../plugins/org/files.ts'
import { actorOf } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { answers, queryFlag, streams, success } from '../contract/common.ts'
import { toCsv, unescaped } from '../csv.ts'
import { done } from '../envelope.ts'
import { consumes, file as fileField, uploadRoutes } from '../upload.ts'

const tags = ['org']

/** Teams, people, their accounts and the scopes of projects, as CSV files to read and to give back. */
export const orgFileRoutes: Routes = (api, { database }) =>
  uploadRoutes(api, (routes) => {
    for (const file of orgFiles) {
      const path = `/plugins/org/${file.name}`
      routes.get(
        path,
        {
          schema: {
            tags,
            summary: file.title,
            ...(file.sample && {
              querystring: z.object({ fake_data: queryFlag.meta({ description: 'A sample to begin with.' }) }),
            }),
            response: streams('text/csv', `Columns: ${file.columns.join(', ')}.`),
          },
        },
        async ({ query }, reply) => {
          const isSample = file.sample && (query as { fake_data?: boolean }).fake_data
          const rows = isSample ? file.sample : await file.read(database)
          return reply
            .type('text/csv; charset=utf-8')
            .header('content-disposition', `attachment; filename="${file.name}"`)
            .send(toCsv(file.columns, rows))
        },
      )
      routes.put(
        path,
        {
          schema: {
            tags,
            summary: `${file.title}: ${file.replaces.length > 0 ? 'the file takes the place of what is stored' : 'the file adds to what is stored'}`,
            consumes,
            body: z.object({ file: fileField }),
            response: answers(200, success, 413),
          },
        },
        async (request) => {
          const csv = await openCsv(file.name, request.body.file, unescaped)
          await takeOrgFile(database, file, csv, (inside, lines) =>
            recordChange(inside.kysely, actorOf(request), {
              action: 'update',
              subject: 'org file',
              key: file.name,
              before: null,
              after: { lines },
            }),
          )
          return done()
        },
      )
    }
  })
