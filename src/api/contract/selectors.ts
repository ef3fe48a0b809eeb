import { z } from 'zod'
import { id } from './common.ts'
import { body, bounded, flag, given, LONGEST } from './lenient.ts'

const MOST_PATTERNS = 500
const LONGEST_PATTERN = 500
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
  .meta({ id: 'Selector', description: 'A rule by which scopes join a blueprint by themselves.' })

export const selectorList = z.object({ selectors: z.array(selector) })

export const newSelector = body({
  plugin: bounded(100),
  connectionId: id,
  scopes: chosen
    .min(1)
    .max(MOST_PATTERNS)
    .meta({ description: 'Names and patterns: `*` is anything but a slash, `**` anything.' }),
  except: given(patterns),
  archived: given(flag).meta({ description: 'Archived ones too.' }),
  topic: given(topic).meta({ description: 'Only with this topic.' }),
  scopeConfigId: given(id).meta({ description: 'The scope config of what it chooses.' }),
  allowEmpty: given(flag).meta({ description: 'It may choose nothing now.' }),
})

export const addedSelector = z.object({
  selector,
  count: z.int().meta({ description: 'How many scopes it chooses now.' }),
  newCount: z.int().meta({ description: 'How many of them were not in the blueprint.' }),
  scopes: z.array(z.object({ id: z.string(), name: z.string(), isNew: z.boolean() })),
})
