/** Finds events of a project, which are marked on charts over time. */
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { among, onePiece } from '../database/pieces.ts'
import { numberChanges } from '../domain/rollouts.ts'
import type { Policy } from '../metrics/policy/policy.ts'
import { deploymentsOf, incidentsOf } from '../metrics/sources.ts'
import type { Range } from './range.ts'
import { readInTime } from './read.ts'

/** `change` is a day since which numbers are counted differently. */
export const KINDS = ['deployment', 'incident', 'switch', 'change'] as const
export type AnnotationKind = (typeof KINDS)[number]

interface Annotation {
  readonly kind: AnnotationKind
  readonly at: Date
  readonly title: string
  readonly url: string
}

/** The largest number of each kind, because more would be a grey bar. The latest are kept. */
export const MOST_ANNOTATIONS = 500
/** Steps of a traffic switch that move traffic. */
const MOVES = ['shifting', 'switched', 'dns-switched', 'rolled-back']

export async function readAnnotations(
  database: Database,
  { project, policy }: { readonly project: string; readonly policy: Policy },
  range: Range,
  kinds: readonly AnnotationKind[],
): Promise<{ readonly annotations: readonly Annotation[]; readonly isCut: boolean }> {
  const found = []
  for (const kind of kinds)
    found.push(await readInTime(database, statementOf(database, kind, { ...range, project, policy })))
  const annotations = found.flatMap((rows, place) =>
    rows.slice(0, MOST_ANNOTATIONS).map(({ at, title, url }) => ({
      kind: kinds[place] as AnnotationKind,
      at: at as Date,
      title: String(title ?? ''),
      url: String(url ?? ''),
    })),
  )
  return {
    annotations: annotations.sort((one, other) => Number(one.at) - Number(other.at)),
    isCut: found.some(({ length }) => length > MOST_ANNOTATIONS),
  }
}

interface Wanted extends Range {
  readonly project: string
  readonly policy: Policy
}

function statementOf({ dialect }: Database, kind: AnnotationKind, wanted: Wanted): RawBuilder<unknown> {
  const { project, policy } = wanted
  const [from, to] = [wanted.from, wanted.to].map((moment) => sql.raw(dialect.moment(moment)))
  const latest = sql`order by at desc limit ${sql.lit(MOST_ANNOTATIONS + 1)}`
  if (kind === 'deployment')
    return sql`select at, title, url from (${deploymentsOf({ project, environment: 'PRODUCTION', policy })}) happened
      where fits = 1 and joined = 0 and at between ${from} and ${to} ${latest}`
  if (kind === 'incident') {
    const query = { ...wanted, dialect, environment: 'PRODUCTION', isExplained: false }
    const own = incidentsOf(query)
    return sql`select i.created_date as at, i.title, i.url ${own.from} where ${own.where}
      and i.created_date between ${from} and ${to} ${latest}`
  }
  if (kind === 'change')
    return sql`select c.at, c.reason as title, ${sql.lit(`/projects/${encodeURIComponent(project)}`)} as url
      from ${sql.table(numberChanges.name)} c where c.project_name = ${project} and c.at between ${from} and ${to} ${latest}`
  return sql`select j.at, concat(s.name, ': ', j.effect) as title, concat('/traffic/', s.id) as url
    from _weir_traffic_switches s inner join _weir_traffic_journal j on j.switch_id = s.id
    where s.project = ${project} and j.kind = 'state' and ${among(sql`j.effect`, onePiece(MOVES))}
    and j.at between ${from} and ${to} ${latest}`
}
