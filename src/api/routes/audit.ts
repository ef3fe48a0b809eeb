import { z } from 'zod'
import { auditLines, chosen } from '../../control-plane/audit/export.ts'
import { ACTIONS } from '../../control-plane/audit/record.ts'
import { shownColumns } from '../../control-plane/shown-columns.ts'
import { publicRow, selectPage } from '../../control-plane/store.ts'
import { id } from '../../plugin-kit/spec/request-values.ts'
import { auditEntries } from '../../system/access.ts'
import type { Routes } from '../api.ts'
import { answers, paging, streams } from '../contract/common.ts'
import { inTurns } from '../stream.ts'

export const auditRoutes: Routes = (api, { database }) => {
  const entry = z.object(shownColumns(auditEntries)).extend({
    actorId: z
      .string()
      .meta({ description: 'Who, as an id that never changes: token:NAME, PROVIDER:SUBJECT, api-key:ID, …' }),
    action: z.enum(ACTIONS),
  })
  const filter = {
    actorId: z.string().optional(),
    action: z.enum(ACTIONS).optional(),
    subject: z.string().optional(),
    subjectKey: z.string().optional(),
  }
  api.get(
    '/v1/audit',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags: ['audit'],
        summary: 'Who changed what, newest first; secrets are masked',
        querystring: z.object({ ...paging, ...filter }),
        response: answers(200, z.object({ count: z.int(), entries: z.array(entry) })),
      },
    },
    async ({ query: { page, pageSize, ...wanted } }) => {
      const newestFirst = [['id', 'desc']] as const
      const paged = { page, pageSize }
      const { count, items } = await selectPage(database.kysely, auditEntries, paged, chosen(wanted), newestFirst)
      return { count, entries: items.map((row) => publicRow(auditEntries, row)) }
    },
  )
  api.get(
    '/v1/audit/export',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'none', cost: 'streamed' },
      schema: {
        tags: ['audit'],
        summary:
          'The whole audit log, oldest first, one JSON object per line; starts after the entry with the id `after`',
        querystring: z.object({ ...filter, after: id.optional() }),
        response: streams('application/x-ndjson', 'Lines of JSON, each as an entry of /v1/audit.'),
      },
    },
    async ({ query: { after, ...wanted } }, reply) =>
      reply
        .type('application/x-ndjson')
        .header('content-disposition', 'attachment; filename="audit.jsonl"')
        .send(inTurns(auditLines(database, wanted, after))),
  )
}
