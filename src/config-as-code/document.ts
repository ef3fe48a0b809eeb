/** The YAML file: what it may say, checked strictly, since nobody is there to ask. */
import { parseDocument } from 'yaml'
import { z } from 'zod'
import { hasAddressSecret } from '../address-secrets.ts'
import { explainIssues } from '../api/contract/explain-issues.ts'
import { parseTime } from '../database/time.ts'
import { messageOf, UserError } from '../errors.ts'

/** Secrets come from the environment; the file can be shown to everybody. */
export const environmentReference = z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/) })

const value = z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.any()), z.record(z.string(), z.any())])

const scopeConfig = z.looseObject({ entities: z.array(z.string()).optional() })
const connection = z.looseObject({ scopeConfigs: z.record(z.string(), scopeConfig).default({}) }).catchall(value)

const selector = z.strictObject({
  connection: z.string().regex(/^[\w-]+\/.+$/, 'must read plugin/name, such as github/main'),
  /** `org/*`, or a whole name; an object is a scope as it is. Connections that are pushed to have none. */
  scopes: z.array(z.union([z.string().min(1), z.record(z.string(), z.any())])).default([]),
  except: z.array(z.string()).default([]),
  /** Archived ones are left out unless this is true. */
  archived: z.boolean().default(false),
  topic: z.string().optional(),
  scopeConfig: z.string().optional(),
})

const time = z.union([z.string(), z.date()]).transform((sent, context) => {
  const found = sent instanceof Date ? sent : parseTime(sent)
  if (found) return found
  context.addIssue({ code: 'custom', message: 'must be a time such as 2026-01-31' })
  return z.NEVER
})

const project = z.strictObject({
  description: z.string().default(''),
  /** Names, or names with options. */
  metrics: z.array(z.union([z.string(), z.record(z.string(), z.any())])).default(['dora']),
  /** Cron in UTC, or `manual`. */
  schedule: z.string().default('0 0 * * *'),
  enable: z.boolean().default(true),
  timeAfter: time.optional(),
  skipOnFail: z.boolean().default(true),
  priority: z.int().default(0),
  labels: z.array(z.string()).default([]),
  collect: z.array(selector).default([]),
})

const document = z.strictObject({
  /** Plugin → name → settings. */
  connections: z.record(z.string(), z.record(z.string(), connection)).default({}),
  projects: z.record(z.string(), project).default({}),
})

export type ConfigDocument = z.output<typeof document>
export type ConnectionConfig = z.output<typeof connection>
export type ProjectConfig = z.output<typeof project>
export type SelectorConfig = z.output<typeof selector>

/** An alias without its anchor shows only when values are made. */
function contentOf(parsed: ReturnType<typeof parseDocument>, file: string): unknown {
  try {
    return parsed.toJS()
  } catch (error) {
    throw new UserError(`${file} is not YAML: ${messageOf(error)}`)
  }
}

export function parseConfig(text: string, file: string): ConfigDocument {
  const parsed = parseDocument(text, { prettyErrors: true })
  const [error] = parsed.errors
  if (error) throw new UserError(`${file} is not YAML: ${error.message.split('\n')[0]}`)
  const value = contentOf(parsed, file) ?? {}
  const result = document.safeParse(value)
  if (!result.success) {
    throw new UserError(`${file}: ${explainIssues(result.error.issues as any, { value, schema: document })}`)
  }
  return result.data
}

/** Replaces references by what the environment holds. */
export function resolveEnvironment(
  where: string,
  settings: Readonly<Record<string, unknown>>,
  isSecret: (name: string) => boolean,
  environment: NodeJS.ProcessEnv,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, each]) => {
      const reference = environmentReference.safeParse(each)
      if (reference.success) {
        const found = environment[reference.data.env]
        if (!found) throw new UserError(`${where}: ${name} comes from ${reference.data.env}, which is not set.`)
        return [name, found]
      }
      if ((isSecret(name) && each) || (typeof each === 'string' && hasAddressSecret(each))) {
        throw new UserError(`${where}: ${name} is a secret. Write it as { env: NAME } and set NAME in the environment.`)
      }
      return [name, each]
    }),
  )
}
