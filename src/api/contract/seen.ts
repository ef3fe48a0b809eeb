import { z } from 'zod'
import { parseTime } from '../../database/time.ts'

const LONGEST = 100

/** `"2026-01-31T12:00:00.000Z"`, with or without the quotes that the standard requires; `*` matches anything. */
const seen = z
  .string()
  .max(LONGEST)
  .optional()
  .transform((value, context) => {
    if (value === undefined || value.trim() === '*') return undefined
    const moment = parseTime(value.replace(/^\s*(W\/)?"(.*)"\s*$/, '$2'))
    if (moment) return moment
    context.addIssue({ code: 'custom', message: 'must be the updatedAt of what was read, or *' })
    return z.NEVER
  })
  .meta({
    description:
      'The `updatedAt` of the record as it was read: when somebody changed it since, nothing is written, and 412 answers with the record as it is now.',
  })

/** Headers of a change that must not overwrite newer data, which the sender has not seen. */
export const unlessChanged = z.looseObject({ 'if-match': seen })
