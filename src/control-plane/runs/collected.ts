/** Lists what collections received and missed, and quarantined records, and starts runs that process either again. */

import { sql } from 'kysely'
import { among, inPieces } from '../../database/pieces.ts'
import { UserError } from '../../errors.ts'
import { gaps, isAskedAgain, reopenGaps, type StoredGap } from '../../plugin-kit/raw/gaps.ts'
import { quarantine } from '../../plugin-kit/raw/quarantine.ts'
import { receipts } from '../../plugin-kit/raw/receipts.ts'
import type { Plan } from '../../plugin-kit/spec/plan.ts'
import type { GapRecord, Pipeline, QuarantinedRecord, ReceiptRecord } from '../records.ts'
import type { CollectedFilter, CollectedService, PipelineService, ProjectService, ServiceContext } from '../services.ts'
import { publicRow, selectPage, selectRows } from '../store.ts'
import { finderOf, namesOf, planFor, pluginsOf, type Target, targetsOf } from './collected-targets.ts'

export function collectedService(
  context: ServiceContext,
  projects: ProjectService,
  pipelines: PipelineService,
): CollectedService {
  const { database } = context
  const asking = { context, projects }
  const { kysely } = database

  async function targetsToDrive(filter: CollectedFilter): Promise<Target[]> {
    const targets = await targetsOf(asking, filter)
    if (targets.length === 0) throw new UserError('There is no such scope.', { status: 404 })
    return targets
  }

  return {
    async receipts(filter) {
      const targets = await targetsOf(asking, filter)
      if (targets.length === 0) return []
      const find = finderOf(targets)
      const names = pluginsOf(targets)
      // There may be more scopes than a statement can have parameters, so rows are matched to scopes here and not in SQL.
      const missing = Map.groupBy(
        await selectRows(kysely, gaps, (query) => query.where('plugin', 'in', names)),
        (gap) => `${gap.raw_table} ${gap.params}`,
      )
      const rows = await selectRows(kysely, receipts, (query) =>
        query.where('plugin', 'in', names).orderBy('params').orderBy('raw_table'),
      )
      return rows.flatMap((row) => {
        const target = find(row)
        if (!target) return []
        const { params: _, ...receipt } = publicRow(receipts, row)
        const own = missing.get(`${row.raw_table} ${row.params}`) ?? []
        return [{ ...namesOf(target), ...receipt, gaps: own.map(publicGap) } as ReceiptRecord]
      })
    },
    async quarantined({ page, pageSize, ...filter }) {
      const targets = await targetsOf(asking, filter)
      if (targets.length === 0) return { count: 0, items: [] }
      const find = finderOf(targets)
      const names = pluginsOf(targets)
      const marked = await kysely
        .selectFrom(quarantine.name)
        .select(['plugin', 'params'])
        .distinct()
        .where('plugin', 'in', names)
        .execute()
      const params = marked.filter(find).map((row) => row.params)
      if (params.length === 0) return { count: 0, items: [] }
      const { count, items } = await selectPage(
        kysely,
        quarantine,
        { ...(page && { page }), ...(pageSize && { pageSize }) },
        (query) => query.where('plugin', 'in', names).where(isOneOf(params)),
        [
          ['updated_at', 'desc'],
          ['raw_table', 'asc'],
          ['raw_id', 'asc'],
          ['subtask', 'asc'],
          ['record_key', 'asc'],
        ],
      )
      return {
        count,
        items: items.map((row) => {
          const { params: _, ...rest } = publicRow(quarantine, row)
          const target = find(row)
          return { ...(target && namesOf(target)), ...rest } as QuarantinedRecord
        }),
      }
    },
    async redrive(filter) {
      const names = new Set(pluginsOf(await targetsToDrive(filter)))
      const { plan, ...blueprint } = await planFor(asking, filter, true)
      const marked = plan.map((stage) =>
        stage.map((task) => (names.has(task.plugin) ? { ...task, options: { ...task.options, redrive: true } } : task)),
      )
      return start('What was put aside, again', { plan: marked, ...blueprint, skipCollectors: true })
    },
    async askAgain(filter) {
      for (const { plugins: names, params } of await targetsToDrive(filter)) await reopenGaps(database, names, params)
      return start('What is missing, again', await planFor(asking, filter, false))
    },
  }

  function start(
    name: string,
    pipeline: { readonly plan: Plan; readonly blueprintId?: number; readonly skipCollectors?: boolean },
  ): Promise<Pipeline> {
    return pipelines.create({ name, ...pipeline })
  }
}

/** Limits how many scopes one query searches. Nobody looks through the records of more. */
const MOST_PIECES = 10
function isOneOf(params: readonly string[]) {
  const pieces = [...inPieces(new Set(params))].slice(0, MOST_PIECES)
  return sql<boolean>`(${sql.join(
    pieces.map((piece) => among(sql.ref('params'), piece)),
    sql` or `,
  )})`
}

function publicGap(gap: StoredGap): GapRecord {
  const { address, status, reason, input, since, missing, attempts } = gap
  const kind = gap.kind as GapRecord['kind']
  return { kind, address, status, reason, input, since, missing, attempts, isAskedAgain: isAskedAgain(gap) }
}
