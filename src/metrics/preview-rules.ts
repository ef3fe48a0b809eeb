/** What rules would match, decided on stored rows a page at a time. */
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { among, inPieces, onePiece, type Piece } from '../database/pieces.ts'
import { compilePattern, type Pattern } from '../user-patterns.ts'
import { mapped, type Sql } from './calculate/calculation.ts'

/** Fields of a scope config; one that is absent stays as it is, one that is empty is taken away. */
export interface Rules {
  readonly deploymentPattern?: string | undefined
  readonly productionPattern?: string | undefined
  readonly productionBranchPattern?: string | undefined
  readonly envNamePattern?: string | undefined
  readonly issueTypeRequirement?: string | undefined
  readonly issueTypeBug?: string | undefined
  readonly issueTypeIncident?: string | undefined
  readonly issueTextIncident?: string | undefined
  /** Types of issues by name, where a tool has them, and what each counts as. */
  readonly typeMappings?:
    | Readonly<Record<string, { readonly standardType?: string | null | undefined }>>
    | null
    | undefined
}

/** What holds for a scope until rules are changed. */
export interface RulesInForce {
  /** Every field that its source has; null: it is not set. */
  readonly rules: { readonly [Name in keyof Rules]?: Rules[Name] | null }
  /** The same with those in their place that are tried. */
  readonly after: RulesInForce['rules']
  /** Without a production pattern, everything that deploys goes to production. */
  readonly isAllProduction: boolean
}

/** Whose rows rules are about: a project, and of it those whose scopes have ids that begin so. */
export interface Subjects {
  readonly project: string
  readonly idsBegin?: string | undefined
  /** By the id of the scope in the domain model; of scopes that are not there nothing is known. */
  readonly inForce: ReadonlyMap<string, RulesInForce>
}

export interface Sample {
  readonly table: string
  readonly id: string
  readonly name: string
}
export interface RuleEffect {
  readonly rule: string
  readonly matching: number
  readonly starting: number
  readonly stopping: number
  readonly samples: { readonly starting: readonly Sample[]; readonly stopping: readonly Sample[] }
}

const MOST_SAMPLES = 10

export type Columns = Readonly<Record<string, string>>
/** By table and id: rows before they were made again. */
export type Earlier = ReadonlyMap<string, ReadonlyMap<string, Columns>>

/** A row; columns without a value are empty. */
export interface Subject {
  readonly row: Readonly<Record<string, string>>
  /** The scope that it belongs to. */
  readonly inForce: RulesInForce | undefined
  /** Further texts of it, such as labels. */
  readonly more: readonly string[]
}
export interface Decision {
  /** Columns that it would have. */
  readonly after: Readonly<Record<string, string>>
  readonly effects: readonly {
    readonly rule: string
    readonly was: boolean
    readonly is: boolean
    /** What is shown of the row. */
    readonly name: string
  }[]
}
export interface Source {
  readonly table: string
  readonly pageSize: number
  /** `id`, `scope` and the columns that decisions need, a page of them. */
  readonly rows: (after: string) => RawBuilder<Record<string, string | null>>
  /** `id` and `text` of what hangs on rows, whose column `by` names it. */
  readonly more?: {
    readonly by: string
    readonly read: (ids: Piece<string>) => RawBuilder<{ id: string; text: string }>
  }
  /** `actual` are the columns that a run with the rules gave it. */
  readonly decide: (subject: Subject, actual?: Columns) => Decision
}

export type PatternName = Exclude<keyof Rules, 'typeMappings'>
export type Matcher = (text: string) => boolean

const MOST_COMPILED = 1000
const compiled = new Map<string, Pattern>()
/** Null for an empty pattern, which matches nothing. */
export function matcherOf(pattern: string, name: PatternName): Matcher | null {
  if (pattern === '') return null
  const known = compiled.get(pattern) ?? compilePattern(pattern, name)
  if (compiled.size >= MOST_COMPILED) compiled.clear()
  compiled.set(pattern, known)
  return (text) => known.matcher(text).find()
}

/** The rule as it would be: changed, or as it is in force; undefined if nobody knows. */
export function ruleAfter(rules: Rules, inForce: RulesInForce | undefined, name: PatternName) {
  const pattern = inForce ? (inForce.after[name] ?? '') : rules[name]
  return pattern === undefined ? undefined : matcherOf(pattern, name)
}

/** Whether the scope's source has the rule; of an unknown one that is assumed. */
export const hasRule = (inForce: RulesInForce | undefined, name: keyof Rules) => !inForce || name in inForce.rules

/** Rows of the mapping that the rules are about. */
export const own = (table: 'cicd_scopes' | 'boards', { project, idsBegin }: Subjects): Sql =>
  idsBegin === undefined
    ? mapped(table, project)
    : sql`${mapped(table, project)} and row_id like ${`${idsBegin.replace(/[!%_]/g, '!$&')}%`} escape '!'`

/** The rows of sources as they are now. */
export async function rowsOf(database: Database, sources: readonly Source[]): Promise<Earlier> {
  const found = new Map<string, Map<string, Columns>>()
  for (const { table, pageSize, rows: read } of sources) {
    const own = found.get(table) ?? new Map<string, Columns>()
    found.set(table, own)
    for (let last = ''; ; ) {
      const { rows } = await read(last).execute(database.kysely)
      for (const { id, type, environment } of rows)
        own.set(id ?? '', { type: type ?? '', environment: environment ?? '' })
      if (rows.length < pageSize) break
      last = rows.at(-1)?.id ?? ''
    }
  }
  return found
}

/** Goes through a source and counts what starts and stops matching. Unless rows were made again, it writes the new words. */
export async function applyRules(
  database: Database,
  { table, pageSize, rows: read, more, decide }: Source,
  inForce: Subjects['inForce'],
  effects: Map<string, RuleEffect>,
  earlier?: Earlier,
): Promise<void> {
  for (let last = ''; ; ) {
    const { rows } = await read(last).execute(database.kysely)
    const texts = more ? await textsOf(database, more, rows) : new Map<string, string[]>()
    const changes = new Map<string, { column: string; after: string; ids: string[] }>()
    for (const each of rows) {
      const row = Object.fromEntries(Object.entries(each).map(([column, value]) => [column, value ?? '']))
      const { id = '', scope = '' } = row
      const further = texts.get(row[more?.by ?? ''] ?? '') ?? []
      // Beside scopes whose rules are known, others are of sources that have none, such as one that pushes.
      if (inForce.size > 0 && !inForce.has(scope)) continue
      const before = earlier && { ...row, ...(earlier.get(table)?.get(id) ?? { type: '', environment: '' }) }
      const decision = decide({ row: before ?? row, inForce: inForce.get(scope), more: further }, earlier && row)
      for (const effect of decision.effects) count(effects, { table, id, name: effect.name }, effect)
      if (earlier) continue
      for (const [column, after] of Object.entries(decision.after)) {
        if (row[column] === after) continue
        const key = `${column} ${after}`
        const change = changes.get(key) ?? { column, after, ids: [] }
        changes.set(key, change)
        change.ids.push(id)
      }
    }
    for (const { column, after, ids } of changes.values()) {
      for (const piece of inPieces(new Set(ids))) {
        await sql`update ${sql.table(table)} set ${sql.id(column)} = ${after}
          where ${among(sql`id`, piece)}`.execute(database.kysely)
      }
    }
    if (rows.length < pageSize) return
    last = rows.at(-1)?.id ?? ''
  }
}

async function textsOf(
  { kysely }: Database,
  { by, read }: NonNullable<Source['more']>,
  rows: readonly Record<string, string | null>[],
): Promise<Map<string, string[]>> {
  const ids = new Set(rows.flatMap((row) => row[by] || []))
  const { rows: found } = await read(onePiece(ids)).execute(kysely)
  const texts = new Map<string, string[]>()
  for (const { id, text } of found) texts.set(id, [...(texts.get(id) ?? []), text ?? ''])
  return texts
}

function count(
  effects: Map<string, RuleEffect>,
  sample: Sample,
  { rule, was, is }: { readonly rule: string; readonly was: boolean; readonly is: boolean },
): void {
  const samples = { starting: [], stopping: [] }
  const effect = effects.get(rule) ?? { rule, matching: 0, starting: 0, stopping: 0, samples }
  const kept = (some: readonly Sample[], isWanted: boolean) =>
    isWanted && some.length < MOST_SAMPLES ? [...some, sample] : some
  effects.set(rule, {
    rule,
    matching: effect.matching + Number(is),
    starting: effect.starting + Number(is && !was),
    stopping: effect.stopping + Number(was && !is),
    samples: {
      starting: kept(effect.samples.starting, is && !was),
      stopping: kept(effect.samples.stopping, was && !is),
    },
  })
}
