/** Causes for which single lists and records are missing: what a source did not send, and what could not be read. */
import { sql } from 'kysely'
import { counted } from '../../basics/counted.ts'
import type { Cause } from '../../metrics/answer/answer.ts'
import { gaps } from '../../plugin-kit/raw/gaps.ts'
import { quarantine } from '../../plugin-kit/raw/quarantine.ts'
import { receipts } from '../../plugin-kit/raw/receipts.ts'
import { selectRows } from '../store.ts'
import { collectedScopes, markOf } from './collected-scopes.ts'
import { type AttentionQuestion, type Context, detailsOf, type FindCauses, firstLine } from './question.ts'

export const recordCauses: FindCauses = async (context, question) => {
  const [lists, aside] = [await incompleteLists(context), await putAside(context)]
  if (lists.length === 0 && aside.length === 0) return []
  const isOwn = await ownMarks(context, question)
  return [...listCauses(context, lists.filter(isOwn)), ...(await asideCauses(context, aside.filter(isOwn)))]
}

/** A row belongs to the scope that its params mark. */
async function ownMarks(context: Context, question: AttentionQuestion) {
  if (!question.projects) return () => true
  const marks = new Set((await collectedScopes(context, question)).flatMap((scope) => scope.marks))
  return ({ plugin, params }: { readonly plugin: string; readonly params: string }) => marks.has(markOf(plugin, params))
}

interface List {
  readonly plugin: string
  readonly params: string
  readonly reasons: readonly string[]
  readonly missing: number
}

async function incompleteLists({ database: { kysely } }: Context): Promise<List[]> {
  const rows = await selectRows(kysely, receipts, (query) =>
    query.where('status', '<>', 'complete').orderBy('plugin').orderBy('raw_table').orderBy('params'),
  )
  if (rows.length === 0) return []
  const found = Map.groupBy(await selectRows(kysely, gaps), ({ raw_table, params }) => markOf(raw_table, params))
  return rows.map(({ plugin, params, raw_table, message, expected, stored }) => {
    const own = found.get(markOf(raw_table, params)) ?? []
    return {
      plugin,
      params,
      reasons: own.length > 0 ? own.map(({ reason }) => firstLine(reason)) : [firstLine(message)],
      missing: Math.max(1, Number(expected ?? 0) - Number(stored ?? 0)),
    }
  })
}

const titleOf = ({ plugins }: Context, name: string): string =>
  plugins.find((plugin) => plugin.name === name)?.source?.title ?? name

const listCauses = (context: Context, lists: readonly List[]): Cause[] =>
  [...Map.groupBy(lists, ({ plugin }) => plugin)].map(([plugin, own]) => {
    const scopes = new Set(own.map(({ params }) => params)).size
    return {
      kind: 'list',
      sentence: `${counted(own.length, 'list')} of ${counted(scopes, 'scope')} of ${titleOf(context, plugin)} did not come whole, so numbers rest on less than there is.`,
      remedy: 'See what is missing, and ask the source again.',
      page: '/runs/health',
      cost: own.reduce((sum, { missing }) => sum + missing, 0),
      details: detailsOf(own.flatMap(({ reasons }) => reasons)),
    }
  })

interface Aside {
  readonly plugin: string
  readonly params: string
  readonly count: number
}

async function putAside({ database: { kysely } }: Context): Promise<Aside[]> {
  const { rows } = await sql<Aside>`select plugin, params, count(*) as count from ${sql.table(quarantine.name)}
    group by plugin, params`.execute(kysely)
  return rows.map((row) => ({ ...row, count: Number(row.count) }))
}

async function asideCauses(context: Context, all: readonly Aside[]): Promise<Cause[]> {
  const causes: Cause[] = []
  for (const [plugin, own] of Map.groupBy(all, (each) => each.plugin)) {
    const cost = own.reduce((sum, { count }) => sum + count, 0)
    causes.push({
      kind: 'record',
      sentence: `${counted(cost, 'record')} of ${titleOf(context, plugin)} could not be read and ${cost === 1 ? 'was' : 'were'} put aside.`,
      remedy: 'See why, and process them again once that is mended.',
      page: '/runs/health?show=aside',
      cost,
      details: await reasonsOf(context, plugin, own),
    })
  }
  return causes
}

const MOST_REASONS = 20
const MOST_SCOPES = 100
async function reasonsOf({ database: { kysely } }: Context, plugin: string, own: readonly Aside[]): Promise<string[]> {
  const params = own.slice(0, MOST_SCOPES).map((each) => each.params)
  const rows = await selectRows(kysely, quarantine, (query) =>
    query
      .where('plugin', '=', plugin)
      .where('params', 'in', params)
      .orderBy('raw_table')
      .orderBy('raw_id')
      .limit(MOST_REASONS),
  )
  return detailsOf(rows.map(({ reason }) => firstLine(reason)))
}
