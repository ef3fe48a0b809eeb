import { z } from 'zod'
import { ACTIONS } from '../../audit/record.ts'
import { publicRow, selectPage } from '../../pipelines/store.ts'
import { auditEntries } from '../../system/access.ts'
import type { Routes } from '../api.ts'
import { answers, paging, time } from '../contract/common.ts'

export const auditRoutes: Routes = (api, { database }) => {
  const entry = z.object({
    id: z.int(),
    actorId: z
      .string()
      .meta({ description: 'Who, by what does not change: token:NAME, PROVIDER:SUBJECT, api-key:ID, …' }),
    actor: z.string(),
    actorEmail: z.string(),
    address: z.string(),
    action: z.enum(ACTIONS),
    subject: z.string(),
    subjectKey: z.string(),
    stateBefore: z.any(),
    stateAfter: z.any(),
    createdAt: time,
    updatedAt: time,
  })
  const filter = z.object({ ...paging, subject: z.string().optional(), subjectKey: z.string().optional() })
  api.get(
    '/v1/audit',
    {
      schema: {
        tags: ['audit'],
        summary: 'Who changed what, newest first; secrets are masked',
        querystring: filter,
        response: answers(200, z.object({ count: z.int(), entries: z.array(entry) })),
      },
    },
    async ({ query: { subject, subjectKey, ...page } }) => {
      const { count, items } = await selectPage(
        database.kysely,
        auditEntries,
        page,
        (query) => {
          const ofSubject = subject === undefined ? query : query.where('subject', '=', subject)
          return subjectKey === undefined ? ofSubject : ofSubject.where('subject_key', '=', subjectKey)
        },
        [['id', 'desc']],
      )
      return { count, entries: items.map((row) => publicRow(auditEntries, row)) }
    },
  )
}
