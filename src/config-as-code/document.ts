/** The schema of the YAML file. It is strict, because nobody can be asked about unclear content. */

import { z } from 'zod'
import { explainIssues, type Issue } from '../basics/explain-issues.ts'
import { parseTime } from '../database/time.ts'
import { UserError } from '../errors.ts'
import { FOUR_KEYS, ownFields } from '../plugins/index.ts'
import { type ConfigFile, type ConfigText, configFile, type Path, readConfigText } from './config-file.ts'
import { LONGEST_PATTERN } from './selectors.ts'
import { type Environment, fillVariables, type Templates, type UnsetVariable } from './variables.ts'

const value = z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.any()), z.record(z.string(), z.any())])

const scopeConfig = z.looseObject({ entities: z.array(z.string()).optional() })
const connection = z.looseObject({ scopeConfigs: z.record(z.string(), scopeConfig).default({}) }).catchall(value)

const pattern = z.string().max(LONGEST_PATTERN)
const selector = z.strictObject({
  connection: z.string().regex(/^[\w-]+\/.+$/, 'must look like plugin/name, for example github/main'),
  /** `org/*`, or a whole name. An object is a scope itself. Connections that receive pushed data have no scopes. */
  scopes: z.array(z.union([pattern.min(1), z.record(z.string(), z.any())])).default([]),
  except: z.array(pattern).default([]),
  /** Archived scopes are chosen only if this is true. */
  archived: z.boolean().default(false),
  topic: z.string().optional(),
  scopeConfig: z.string().optional(),
})

const time = z.union([z.string(), z.date()]).transform((input, context) => {
  const found = input instanceof Date ? input : parseTime(input)
  if (found) return found
  context.addIssue({ code: 'custom', message: 'must be a time such as 2026-01-31' })
  return z.NEVER
})

const task = z.record(z.string(), z.any())
/** Stages of tasks, or the tasks of one stage. The plan is checked completely when it is stored. */
const plan = z.array(z.union([task, z.array(task)]))

const project = z.strictObject({
  description: z.string().default(''),
  /** Names, or names with options. */
  metrics: z.array(z.union([z.string(), z.record(z.string(), z.any())])).default([FOUR_KEYS]),
  /** Cron in UTC, or `manual`. */
  schedule: z.string().default('0 0 * * *'),
  enable: z.boolean().default(true),
  /** Null: everything. An optional field that is missing, here and below, keeps its value, or gets the default of a new project. */
  timeAfter: time.nullable().optional(),
  skipOnFail: z.boolean().default(true),
  priority: z.int().default(0),
  labels: z.array(z.string()).default([]),
  collect: z.array(selector).default([]),
  /** Tasks as they are written (mode ADVANCED), instead of `collect`. */
  plan: plan.optional(),
  beforePlan: plan.nullable().optional(),
  afterPlan: plan.nullable().optional(),
  skipCollectors: z.boolean().optional(),
  fullSync: z.boolean().optional(),
})

/** A column that users add to a domain table. */
const field = z.strictObject({
  type: z.enum(ownFields.types),
  /** The title that people see. */
  title: z.string().max(255).default(''),
  description: z.string().default(''),
})

const document = z.strictObject({
  /** By domain table and column. */
  fields: z.record(z.string(), z.record(z.string(), field)).default({}),
  /** By plugin and name. */
  connections: z.record(z.string(), z.record(z.string(), connection)).default({}),
  projects: z.record(z.string(), project).default({}),
})

export type ConfigDocument = z.output<typeof document>
export type ConnectionConfig = z.output<typeof connection>
export type ProjectConfig = z.output<typeof project>
export type FieldConfig = z.output<typeof field>
export type SelectorConfig = z.output<typeof selector>

/** Returns the settings of a project for which the file gives none. */
export const projectDefaults = (): ProjectConfig => project.parse({})

export interface Config {
  readonly file: ConfigFile
  readonly document: ConfigDocument
  readonly templates: Templates
  readonly unset: readonly UnsetVariable[]
}

const MOST_ISSUES = 5

/** Reads a file. Its variables come only from `environment`. */
export const parseConfig = (text: string, name: string, environment: Environment): Config =>
  checkConfig(readConfigText(text, name), name, environment)

export function checkConfig(text: ConfigText, name: string, environment: Environment): Config {
  const file = configFile(text, name)
  const { content, templates, unset } = fillVariables(file, environment)
  const result = document.safeParse(content ?? {})
  if (!result.success) {
    const sentences = result.error.issues.slice(0, MOST_ISSUES).map((issue) => {
      const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
      const path = [...(issue.path as (string | number)[]), ...unknown]
      return file.refusal(path, explainIssues([issue as Issue], { value: content ?? {}, schema: document })).message
    })
    throw new UserError(sentences.join(' '))
  }
  for (const [path, each] of namesOf(result.data)) {
    if (each.trim() !== each) throw file.refusal(path, `"${each}" begins or ends with a space: remove it.`)
  }
  return { file, document: result.data, templates, unset }
}

function* namesOf({ connections, projects }: ConfigDocument): Iterable<readonly [path: Path, name: string]> {
  for (const [plugin, byName] of Object.entries(connections)) {
    for (const [name, { scopeConfigs }] of Object.entries(byName)) {
      const path = ['connections', plugin, name]
      yield [path, name]
      for (const configName of Object.keys(scopeConfigs)) yield [[...path, 'scopeConfigs', configName], configName]
    }
  }
  for (const name of Object.keys(projects)) yield [['projects', name], name]
}
