import { z } from 'zod'
import { timeOrNull } from './common.ts'

const seen = { description: 'Null: one that you may not see.' }

/** Tells where the data of a project comes from if it has no run of its own. */
export const collectedBy = z
  .object({ project: z.string().nullable().meta(seen), run: z.int().nullable().meta(seen), finishedAt: timeOrNull })
  .nullable()
  .meta({ description: 'If the project never ran: the newest run of another that collected scopes of it.' })
