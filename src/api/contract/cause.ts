/** A cause that needs attention, as answers of the API show it. */
import { z } from 'zod'

export const cause = z
  .object({
    kind: z.string().meta({
      description:
        '`connection`, `run`, `source`, `list`, `record`, `rule`, `incident`, `waiting` or `target`: what it is about.',
    }),
    sentence: z.string(),
    remedy: z.string().meta({ description: 'What to do.' }),
    page: z.string().nullable().meta({ description: 'The page on which it is mended.' }),
    cost: z.number().meta({ description: 'How many items it costs.' }),
    details: z.array(z.string()).readonly().meta({ description: 'The raw errors behind it, at most a few.' }),
  })
  .meta({ id: 'Cause', description: 'What needs attention: one sentence for one cause, however many errors it made.' })
