/** Previews what rules would match. They are applied to stored rows, a page at a time. */

import { type RawBuilder, sql } from 'kysely'
import { compilePattern, type Pattern } from '../../basics/user-patterns.ts'
import type { Database } from '../../database/database.ts'
import { beginsWith } from '../../database/like.ts'
import { among, inPieces, onePiece, type Piece } from '../../database/pieces.ts'
import { mapped, type Sql } from '../calculate/calculation.ts'

/** Fields of a scope config. An absent field stays as it is, and an empty one is removed. */
export interface Rules {
  readonly deploymentPattern?: string | undefined
  readonly productionPattern?: string | undefined
  readonly productionBranchPattern?: string | undefined
  readonly envNamePattern?: string | undefined
  readonly issueTypeRequirement?: string | undefined
  readonly issueTypeBug?: string | undefined
  readonly issueTypeIncident?: string | undefined
  readonly issueTextIncident?: string | undefined
  /** For tools that have types of issues: what each type counts as, by its name. */
  readonly typeMappings?:
    | Readonly<Record<string, { readonly standardType?: string | null | undefined }>>
    | null
    | undefined
}

/** The rules of a scope before the change that is tried. */
export interface RulesInForce {
  /** Every field that the scope's source supports; null if it is not set. */
  readonly rules: { readonly [Name in keyof Rules]?: Rules[Name] | null }
  /** The same rules with the changes that are tried. */
  readonly after: RulesInForce['rules']
  /** Without a production pattern, everything that deploys goes to production. */
  readonly isAllProduction: boolean
}

/** The rows that rules are about: those of a project, and of these only the ones whose scope ids begin with `idsBegin`. */
export interface Subjects {
  readonly project: string
  readonly idsBegin?: string | undefined
  /** By the id of the scope in the domain model. Nothing is known about the rules of scopes that are missing here. */
  readonly inForce: ReadonlyMap<string, RulesInForce>
}

interface Sample {
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
/** Rows as they were before they were made again, by table and id. */
type Earlier = ReadonlyMap<string, ReadonlyMap<string, Columns>>

/** A row; columns without a value are empty. */
export interface Subject {
  readonly row: Readonly<Record<string, string>>
  /** The rules of the scope that the row belongs to. */
  readonly inForce: RulesInForce | undefined
  /** Further texts of the row, such as labels. */
  readonly more: readonly string[]
}
export interface Decision {
  /** Columns that the row would have. */
  readonly after: Readonly<Record<string, string>>
  readonly effects: readonly {
    readonly rule: string
    readonly was: boolean
    readonly is: boolean
    /** The name that is shown for the row. */
    readonly name: string
  }[]
}
export interface Source {
  readonly table: string
  readonly pageSize: number
  /** Reads a page of rows: `id`, `scope` and the columns that decisions need. */
  readonly rows: (after: string) => RawBuilder<Record<string, string | null>>
  /** Reads `id` and `text` of records that belong to rows, such as labels. The column `by` of the row holds the `id`. */
  readonly more?: {
    readonly by: string
    readonly read: (ids: Piece<string>) => RawBuilder<{ id: string; text: string }>
  }
  /** Decides about a row. `actual` holds the columns that a run with the rules gave it. */
  readonly decide: (subject: Subject, actual?: Columns) => Decision
}

export type PatternName = Exclude<keyof Rules, 'typeMappings'>
export type Matcher = (text: string) => boolean

const MOST_COMPILED = 1000
const compiled = new Map<string, Pattern>()
/** Returns null for an empty pattern, which matches nothing. */
export function matcherOf(pattern: string, name: PatternName): Matcher | null {
  if (pattern === '') return null
  const known = compiled.get(pattern) ?? compilePattern(pattern, name)
  if (compiled.size >= MOST_COMPILED) compiled.clear()
  compiled.set(pattern, known)
  return (text) => known.matcher(text).find()
}

/** Returns the rule after the change, or as it is in force. Undefined if it is not known. */
export function ruleAfter(rules: Rules, inForce: RulesInForce | undefined, name: PatternName) {
  const pattern = inForce ? (inForce.after[name] ?? '') : rules[name]
  return pattern === undefined ? undefined : matcherOf(pattern, name)
}

/** Tells whether the source of the scope supports the rule. For an unknown source this is assumed. */
export const hasRule = (inForce: RulesInForce | undefined, name: keyof Rules) => !inForce || name in inForce.rules

/** Rows of the project mapping that the rules are about. */
export const own = (table: 'cicd_scopes' | 'boards', { project, idsBegin }: Subjects): Sql =>
  idsBegin === undefined
    ? mapped(table, project)
    : sql`${mapped(table, project)} and ${beginsWith(sql.ref('row_id'), idsBegin)}`

/** Reads the current rows of the sources. */
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

/** Goes through a source and counts the rows that start and stop matching. It writes the new values, unless rows were made again. */
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
      // If the rules of some scopes are known, scopes without them belong to sources that have no rules, such as sources that push.
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
