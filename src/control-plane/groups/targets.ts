/** Targets of metrics: set for a project or a group, or inherited from the nearest group that has one. */
import type { Database } from '../../database/database.ts'
import type { RowOf } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { UserError } from '../../errors.ts'
import type { Whose } from '../../metrics/answer/answer.ts'
import { metricNamed, metrics } from '../../metrics/index.ts'
import { valueInWords } from '../../metrics/words/value-words.ts'
import { targets } from '../../system/groups.ts'
import { type Actor, recordChange } from '../audit/record.ts'
import { deleteRows, findRow, insertRow, selectRows, updateRows } from '../store.ts'
import { groupsAround, groupsAroundProject, readGroupTree, requireGroup } from './group-tree.ts'
import { requireProject } from './whole.ts'

/** Whom a target is set for. */
export interface TargetOwner {
  readonly kind: 'project' | 'group'
  readonly name: string
}
interface Target {
  readonly metric: string
  readonly title: string
  readonly unit: string
  /** In the unit of the metric. */
  readonly value: number
  readonly inWords: string
  /** The group that it is inherited from; null if it is set for whom was asked. */
  readonly inheritedFrom: string | null
  readonly setBy: string
  readonly setAt: Date
}

type Row = RowOf<typeof targets>

/** Who set it, in the words of the audit log: the name, or the id of who has none. */
const nameOf = ({ id, name }: Actor): string => name || id

function recordOf(row: Row, asked: TargetOwner): Target[] {
  const metric = metrics.find(({ name }) => name === row.metric)
  // A metric that this version of Weir no longer has has no target either.
  if (!metric) return []
  const { name, title, unit } = metric
  const isOwn = row.kind === asked.kind && row.name === asked.name
  const { value, set_by: setBy, set_at, updated_at } = row
  const inWords = valueInWords(unit, value)
  const inheritedFrom = isOwn ? null : row.name
  return [{ metric: name, title, unit, value, inWords, inheritedFrom, setBy, setAt: set_at ?? updated_at }]
}

/** Returns the targets by the name of their metric. A team and all projects have none. */
export async function targetsOf(database: Database, { kind, name }: Whose): Promise<ReadonlyMap<string, Target>> {
  if ((kind !== 'project' && kind !== 'group') || name === null) return new Map()
  const asked: TargetOwner = { kind, name }
  const tree = await readGroupTree(database.kysely)
  if (kind === 'group') requireGroup(tree, name)
  const around = kind === 'group' ? groupsAround(tree, name) : groupsAroundProject(tree, name)
  const nearestFirst = [asked, ...around.map((group): TargetOwner => ({ kind: 'group', name: group }))]
  const rows = await selectRows(database.kysely, targets, (query) =>
    query.where('name', 'in', [...new Set(nearestFirst.map((each) => each.name))]),
  )
  const byOwner = Map.groupBy(rows, (row) => `${row.kind} ${row.name}`)
  const found = new Map<string, Target>()
  for (const owner of nearestFirst) {
    for (const row of byOwner.get(`${owner.kind} ${owner.name}`) ?? []) {
      for (const target of recordOf(row, asked)) if (!found.has(target.metric)) found.set(target.metric, target)
    }
  }
  return new Map([...found].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** The targets that are set for a project or a group itself. */
export async function ownTargets(database: Pick<Database, 'kysely'>, owner: TargetOwner): Promise<Target[]> {
  const rows = await selectRows(database.kysely, targets, (query) =>
    query.where('kind', '=', owner.kind).where('name', '=', owner.name).orderBy('metric'),
  )
  return rows.flatMap((row) => recordOf(row, owner))
}

const GREATEST = 1e12

/** Sets a target, or takes it away if the value is null. */
export async function setTarget(
  database: Database,
  owner: TargetOwner,
  { metric, value }: { readonly metric: string; readonly value: number | null },
  actor: Actor,
): Promise<void> {
  const { name, title, unit } = metricNamed(metric)
  if (value !== null && !(Number.isFinite(value) && value >= 0 && value <= GREATEST)) {
    throw new UserError(`value is no target of ${title}: write a number from 0 to ${GREATEST}, in ${unit}.`)
  }
  await retrying(database, () =>
    database.transaction(async (inside) => {
      if (owner.kind === 'project') await requireProject(inside, owner.name)
      else requireGroup(await readGroupTree(inside.kysely), owner.name)
      const where = { kind: owner.kind, name: owner.name, metric: name }
      const before = await findRow(inside.kysely, targets, where)
      if (value === null && !before) return
      if (before?.value === value) return
      const change = { value: value ?? 0, set_by: nameOf(actor), set_at: new Date() }
      if (value === null) await deleteRows(inside.kysely, targets, where)
      else if (before) await updateRows(inside.kysely, targets, where, change)
      else await insertRow(inside.kysely, targets, { ...where, ...change })
      const action = value === null ? 'delete' : before ? 'update' : 'create'
      await recordChange(inside.kysely, actor, {
        action,
        subject: `target of a ${owner.kind}`,
        key: `${owner.name}: ${name}`,
        before: before ? { value: before.value } : null,
        after: value === null ? null : { value },
      })
    }),
  )
}
