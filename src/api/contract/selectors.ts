import { z } from 'zod'
import { LONGEST_PATTERN } from '../../config-as-code/selectors.ts'
import { body, bounded, flag, id, LONGEST, nullAsAbsent } from '../../plugin-kit/spec/request-values.ts'

const MOST_PATTERNS = 500
export const patterns = z.array(bounded(LONGEST_PATTERN).min(1)).max(MOST_PATTERNS)
export const topic = bounded(100)

const written = z
  .record(bounded(100), z.union([bounded(LONGEST), z.number(), z.boolean(), z.null()]))
  .meta({ description: 'A scope as it is, with the fields that it has.' })
const chosen = z.array(z.union([bounded(LONGEST_PATTERN).min(1), written]))

const selector = z
  .object({
    id: z.string().meta({ description: 'Follows from what the selector says.' }),
    plugin: z.string(),
    connectionId: z.int(),
    scopes: z.array(z.union([z.string(), z.record(z.string(), z.any())])),
    except: z.array(z.string()),
    archived: z.boolean(),
    topic: z.string().nullable(),
    scopeConfigId: z.int().nullable(),
  })
  .meta({ id: 'Selector', description: 'A rule that adds scopes to a blueprint automatically.' })

export const selectorList = z.object({ selectors: z.array(selector) })

export const newSelector = body({
  plugin: bounded(100),
  connectionId: id,
  scopes: chosen
    .min(1)
    .max(MOST_PATTERNS)
    .meta({ description: 'Names and patterns: `*` matches anything except a slash, `**` matches anything.' }),
  except: nullAsAbsent(patterns),
  archived: nullAsAbsent(flag).meta({ description: 'Archived ones too.' }),
  topic: nullAsAbsent(topic).meta({ description: 'Only with this topic.' }),
  scopeConfigId: nullAsAbsent(id).meta({ description: 'The scope config of the scopes that match.' }),
  allowEmpty: nullAsAbsent(flag).meta({ description: 'It may match nothing now.' }),
})

export const addedSelector = z.object({
  selector,
  count: z.int().meta({ description: 'How many scopes match now.' }),
  newCount: z.int().meta({ description: 'How many of them were not in the blueprint.' }),
  scopes: z.array(z.object({ id: z.string(), name: z.string(), isNew: z.boolean() })),
})
