/** What rules would match, decided on stored rows a page at a time. */
import { type RawBuilder, sql } from 'kysely'
import { RE2JS } from 're2js'
import type { Database } from '../database/database.ts'
import { among, inPieces } from '../database/pieces.ts'
import { messageOf, UserError } from '../errors.ts'
import { mapped, type Sql } from './calculate/calculation.ts'

/** Fields of a scope config; one that is absent stays as it is, one that is empty is taken away. */
export interface Rules {
  readonly deploymentPattern?: string | undefined
  readonly productionPattern?: string | undefined
  readonly envNamePattern?: string | undefined
  readonly issueTypeRequirement?: string | undefined
  readonly issueTypeBug?: string | undefined
  readonly issueTypeIncident?: string | undefined
  /** Types of issues by name, where a tool has them, and what each counts as. */
  readonly typeMappings?:
    | Readonly<Record<string, { readonly standardType?: string | null | undefined }>>
    | null
    | undefined
}

/** Whose rows rules are about: a project, and of it those whose scopes have ids that begin so. */
export interface Subjects {
  readonly project: string
  readonly idsBegin?: string | undefined
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

const PAGE = 2000
const MOST_SAMPLES = 10

interface Subject {
  readonly id: string
  /** What is shown of it. */
  readonly name: string
  /** What patterns are matched against. */
  readonly texts: readonly string[]
  /** Columns as they are. */
  readonly now: Readonly<Record<string, string>>
}
interface Decision {
  readonly rule: string
  readonly column: string
  readonly before: string
  readonly after: string
  /** The word that makes it a match. */
  readonly word: string
}
interface Source {
  readonly table: string
  readonly rows: (after: string) => RawBuilder<Record<string, string | null>>
  readonly decide: (subject: Subject) => readonly Decision[]
}

type PatternName = Exclude<keyof Rules, 'typeMappings'>
const compiled = (rules: Rules, name: PatternName): RE2JS | null | undefined => {
  const pattern = rules[name]
  if (pattern === undefined) return undefined
  if (pattern === '') return null
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    throw new UserError(`${name}: the pattern ${JSON.stringify(pattern)} does not compile: ${messageOf(error)}`)
  }
}
const matches = (pattern: RE2JS | null, texts: readonly string[]) =>
  pattern !== null && texts.some((text) => pattern.matcher(text).find())

/** Rows of the mapping that the rules are about. */
const own = (table: 'cicd_scopes' | 'boards', { project, idsBegin }: Subjects): Sql =>
  idsBegin === undefined
    ? mapped(table, project)
    : sql`${mapped(table, project)} and row_id like ${`${idsBegin.replace(/[!%_]/g, '!$&')}%`} escape '!'`

export function sourcesOf(subjects: Subjects, rules: Rules): Source[] {
  const deployment = compiled(rules, 'deploymentPattern')
  const production = compiled(rules, 'productionPattern')
  const environment = compiled(rules, 'envNamePattern')
  const scopes = own('cicd_scopes', subjects)
  const decideRun = ({ texts, now }: Subject): Decision[] => [
    ...(deployment === undefined
      ? []
      : [decision('deploymentPattern', 'type', now, matches(deployment, texts) ? 'DEPLOYMENT' : '', 'DEPLOYMENT')]),
    // Without a pattern everything is production.
    ...(production === undefined
      ? []
      : [
          decision(
            'productionPattern',
            'environment',
            now,
            production === null || matches(production, texts) ? 'PRODUCTION' : '',
            'PRODUCTION',
          ),
        ]),
  ]
  const page = (after: string) => sql`id > ${after} order by id limit ${sql.lit(PAGE)}`
  const runs = (table: string, branch: Sql, isOwn: Sql): Source => ({
    table,
    rows: (after) => sql`select id, name, ${branch} as more, type, environment from ${sql.table(table)} run
      where ${isOwn} and ${page(after)}`,
    decide: decideRun,
  })
  const sources: Source[] = []
  if (deployment !== undefined || production !== undefined) {
    const branch = sql`(select max(c.branch) from cicd_pipeline_commits c where c.pipeline_id = run.id)`
    // A job is of the scope of its run: the scope that its own row names is not always one of ours.
    const ofRun = sql`exists (select 1 from cicd_pipelines p where p.id = run.pipeline_id and p.cicd_scope_id in (${scopes}))`
    sources.push(runs('cicd_tasks', sql`''`, ofRun), runs('cicd_pipelines', branch, sql`cicd_scope_id in (${scopes})`))
  }
  if (environment !== undefined) {
    for (const table of ['cicd_deployments', 'cicd_deployment_commits']) {
      sources.push({
        table,
        rows: (after) => sql`select id, max(original_environment) as name, '' as more, max(environment) as environment
          from ${sql.table(table)} where cicd_scope_id in (${scopes}) and coalesce(subtask_name, '') = ''
          and id > ${after} group by id order by id limit ${sql.lit(PAGE)}`,
        decide: ({ texts, now }) => [
          decision(
            'envNamePattern',
            'environment',
            now,
            matches(environment, texts) ? 'PRODUCTION' : (texts[0] ?? ''),
            'PRODUCTION',
          ),
        ],
      })
    }
  }
  return [...sources, ...issueSource(subjects, rules)]
}

/** Every word of the original type, which holds the labels where a tool has no types. */
function issueSource(subjects: Subjects, rules: Rules): Source[] {
  if (rules.typeMappings !== undefined) return typedSource(subjects, rules.typeMappings ?? {})
  const types = (
    [
      ['issueTypeRequirement', 'REQUIREMENT'],
      ['issueTypeBug', 'BUG'],
      ['issueTypeIncident', 'INCIDENT'],
    ] as const
  ).flatMap(([rule, word]) => {
    const pattern = compiled(rules, rule)
    return pattern === undefined ? [] : [{ rule, word, pattern }]
  })
  if (types.length === 0) return []
  return [
    {
      ...issuesOf(subjects),
      decide: ({ texts, now }) => {
        const governed = types.some(({ word }) => word === now.type) || now.type === ''
        let after = governed ? '' : (now.type ?? '')
        for (const label of (texts[0] ?? '').split(',')) {
          after = types.find(({ pattern }) => matches(pattern, [label]))?.word ?? after
        }
        return types.map(({ rule, word }) => decision(rule, 'type', now, after, word))
      },
    },
  ]
}

const issuesOf = (subjects: Subjects) => ({
  table: 'issues',
  rows: (after: string) => sql<
    Record<string, string | null>
  >`select id, original_type as name, '' as more, type from issues
    where id in (select issue_id from board_issues where board_id in (${own('boards', subjects)}))
    and id > ${after} order by id limit ${sql.lit(PAGE)}`,
})

/** A type that nothing is said of keeps its name, in capitals. */
function typedSource(subjects: Subjects, mappings: NonNullable<Rules['typeMappings']>): Source[] {
  const meanings = new Map(Object.entries(mappings))
  return [
    {
      ...issuesOf(subjects),
      decide: ({ name, now }) => {
        const after = (meanings.get(name)?.standardType || name).toUpperCase()
        return ['REQUIREMENT', 'BUG', 'INCIDENT'].map((word) =>
          decision(`typeMappings.${word}`, 'type', now, after, word),
        )
      },
    },
  ]
}

const decision = (rule: string, column: string, now: Subject['now'], after: string, word: string): Decision => ({
  rule,
  column,
  before: now[column] ?? '',
  after,
  word,
})

/** Goes through a source, counts what starts and stops matching, and writes the new words. */
export async function applyRules(database: Database, source: Source, effects: Map<string, RuleEffect>): Promise<void> {
  for (let last = ''; ; ) {
    const { rows } = await source.rows(last).execute(database.kysely)
    const changes = new Map<string, { column: string; after: string; ids: string[] }>()
    for (const { id, name, more, ...now } of rows) {
      const words = Object.fromEntries(Object.entries(now).map(([column, value]) => [column, value ?? '']))
      const subject = { id: id as string, name: name ?? '', texts: [name ?? '', more ?? ''], now: words }
      for (const each of source.decide(subject)) {
        count(effects, source.table, subject, each)
        if (each.before === each.after) continue
        const key = `${each.column} ${each.after}`
        const change = changes.get(key) ?? { column: each.column, after: each.after, ids: [] }
        changes.set(key, change)
        change.ids.push(subject.id)
      }
    }
    for (const { column, after, ids } of changes.values()) {
      for (const piece of inPieces(new Set(ids))) {
        await sql`update ${sql.table(source.table)} set ${sql.id(column)} = ${after}
          where ${among(sql`id`, piece)}`.execute(database.kysely)
      }
    }
    if (rows.length < PAGE) return
    last = rows.at(-1)?.id ?? ''
  }
}

function count(effects: Map<string, RuleEffect>, table: string, { id, name }: Subject, each: Decision): void {
  const effect = effects.get(each.rule) ?? {
    rule: each.rule,
    matching: 0,
    starting: 0,
    stopping: 0,
    samples: { starting: [], stopping: [] },
  }
  const was = each.before === each.word && each.word !== ''
  const is = each.after === each.word && each.word !== ''
  const sample = { table, id, name }
  const kept = (samples: readonly Sample[], isWanted: boolean) =>
    isWanted && samples.length < MOST_SAMPLES ? [...samples, sample] : samples
  effects.set(each.rule, {
    rule: each.rule,
    matching: effect.matching + Number(is),
    starting: effect.starting + Number(is && !was),
    stopping: effect.stopping + Number(was && !is),
    samples: {
      starting: kept(effect.samples.starting, is && !was),
      stopping: kept(effect.samples.stopping, was && !is),
    },
  })
}
