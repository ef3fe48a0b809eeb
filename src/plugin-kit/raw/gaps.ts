/**
 * Data that the source has and a collection did not get.
 *
 * count    the source counts more than arrived; asked for again in the next runs, a few times
 * lost     the source refuses a list or answers it with failures only. The only list of a collector is asked for again in
 *          every run, one of many a few times
 * capped   the source lists no further; nothing can be done
 */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, inPieces } from '../../database/pieces.ts'
import { readAll } from '../../database/read.ts'
import {
  bigint,
  defineTable,
  indexed,
  json,
  key,
  optional,
  type RowOf,
  string,
  text,
  timestamp,
  written,
} from '../../database/table.ts'
import { write } from '../../database/write.ts'

export const gaps = defineTable(
  '_weir_gaps',
  {
    plugin: string(60),
    raw_table: key(string(120)),
    params: key(indexed(string(255))),
    /** Key of the list that was asked for `input`; empty: the only list of its collector. */
    list: key(string(64)),
    subtask: string(120),
    kind: string(20),
    address: text(),
    /** Status of the last answer; null if there was none, or if it was a list. */
    status: optional(bigint()),
    reason: text(),
    input: json(),
    /** Records that were last changed before this time are not affected; null: all may be. */
    since: timestamp(),
    /** Number of records that the source counts and did not send; null if it gives no number. */
    missing: optional(bigint()),
    /** Number of runs that asked without success. */
    attempts: bigint(),
    ...written,
  },
  { meaning: 'Data that the source has and collections did not get, and why.' },
)

type GapKind = 'count' | 'lost' | 'capped'
export type StoredGap = RowOf<typeof gaps>
export interface Gap {
  readonly list: string
  readonly kind: GapKind
  readonly address: string
  readonly status: number | null
  readonly reason: string
  readonly input: unknown
  readonly since: Date | null
  readonly missing: number | null
}

interface GapOwner {
  readonly plugin: string
  readonly subtask: string
  readonly raw_table: string
  readonly params: string
}

/** After this many unsuccessful runs, the gap is left alone until something changes. */
const MOST_ATTEMPTS = 4

/** True if the next run asks for the gap again. */
export const isAskedAgain = ({ kind, list, attempts }: Pick<StoredGap, 'kind' | 'list' | 'attempts'>): boolean =>
  kind !== 'capped' && (isWholeList({ kind, list }) || attempts < MOST_ATTEMPTS)

const isWholeList = ({ kind, list }: Pick<StoredGap, 'kind' | 'list'>) => kind === 'lost' && list === ''

export const storedGaps = (
  database: Database,
  { raw_table, params }: Pick<GapOwner, 'raw_table' | 'params'>,
): Promise<StoredGap[]> => readAll(database, { table: gaps, where: { raw_table, params } })

/** The earlier of two beginnings; null stands for the very beginning. */
export const earlier = (one: Date | null, other: Date | null): Date | null =>
  one === null || other === null ? null : one < other ? one : other

interface GapOutcome {
  /** Gaps that this run found. */
  readonly found: readonly Gap[]
  /** True if this run asked for everything that the gap is about. */
  readonly isAnswered: (gap: StoredGap) => boolean
}

/** Updates the stored gaps after a run; returns those that are left. */
export async function settleGaps(
  database: Database,
  owner: GapOwner,
  { found, isAnswered }: GapOutcome,
): Promise<readonly StoredGap[]> {
  const before = new Map((await storedGaps(database, owner)).map((gap) => [gap.list, gap]))
  const now = new Map<string, Gap>()
  for (const gap of found) now.set(gap.list, together(now.get(gap.list), gap))
  const closed = [...before.values()].filter((gap) => !now.has(gap.list) && isAnswered(gap)).map(({ list }) => list)
  for (const lists of inPieces(closed)) {
    await sql`delete from ${sql.table(gaps.name)} where raw_table = ${owner.raw_table} and params = ${owner.params}
      and ${among(sql.ref('list'), lists)}`.execute(database.kysely)
  }
  if (closed.length === 0 && now.size === 0) return [...before.values()]
  const rows = [...now.values()].map((gap) => gaps.row({ ...owner, ...gap, ...continued(before.get(gap.list), gap) }))
  if (rows.length > 0) await write(database, rows)
  return storedGaps(database, owner)
}

/** Merges gaps of one list, because its windows count as one list. */
const together = (one: Gap | undefined, other: Gap): Gap =>
  one
    ? { ...one, since: earlier(one.since, other.since), missing: (one.missing ?? 0) + (other.missing ?? 0) || null }
    : other

/** A gap that is not larger than before counts as the same gap, so that it is not asked for without end. */
function continued(before: StoredGap | undefined, { kind, since, missing }: Gap) {
  if (before?.kind !== kind) return { attempts: 1 }
  const isSame = (missing ?? 0) <= (before.missing ?? 0)
  return { attempts: isSame ? before.attempts + 1 : 1, since: earlier(since, before.since) }
}

/** Resets gaps that were given up, so that they are asked for again. */
export async function reopenGaps({ kysely }: Database, plugins: readonly string[], params: string): Promise<void> {
  for (const names of inPieces(plugins)) {
    await sql`update ${sql.table(gaps.name)} set attempts = 0
      where params = ${params} and ${among(sql.ref('plugin'), names)}`.execute(kysely)
  }
}

const MOST_NAMED = 5

/** Sentences about gaps, for a message. */
export function gapSentences(list: readonly StoredGap[]): string[] {
  const named = list.slice(0, MOST_NAMED).map((gap) => {
    const isLeft = gap.kind !== 'capped' && !isAskedAgain(gap)
    return isLeft ? `${gap.reason} (asked ${gap.attempts} times; not asked again until it changes)` : gap.reason
  })
  return list.length > MOST_NAMED ? [...named, `and ${list.length - MOST_NAMED} more gaps`] : named
}
