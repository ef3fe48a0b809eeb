import { randomUUID } from 'node:crypto'
import {
  type Database,
  isLeaseHolderGone,
  messageOf,
  newLeaseHolder,
  type RowOf,
  trafficJournal,
  trafficSwitches,
} from '../core.ts'
import { TrafficError } from '../model/finding.ts'
import type { Plan } from '../model/plan.ts'
import { actionsFrom, isOver, type State } from '../model/state.ts'
import { hasLostMemory, knownGroups, lostMemory } from './route-memory.ts'
import { planColumns } from './stored-plan.ts'

/** Long enough to survive a slow vendor call, short enough that another machine takes over soon. */
const LEASE_MS = 60_000

export type SwitchRow = Omit<RowOf<typeof trafficSwitches>, 'state'> & { state: State }
export type JournalRow = RowOf<typeof trafficJournal>
export type SwitchChanges = Partial<Omit<SwitchRow, 'id' | 'version' | 'created_at'>>
type JournalKind = 'state' | 'intent' | 'result' | 'failure' | 'gate' | 'note'

export const createSwitch = (database: Database, plan: Plan, actor: string): Promise<SwitchRow> =>
  database.kysely.transaction().execute(async (transaction) => {
    const now = new Date()
    const id = `${plan.name}-${randomUUID().slice(0, 8)}`
    const row = {
      id,
      name: plan.name,
      project: plan.project,
      state: 'draft',
      step: 0,
      version: 1,
      told_sequence: 0,
      ...planColumns(plan),
      created_at: now,
      updated_at: now,
    }
    await transaction.insertInto(trafficSwitches.name).values(row).execute()
    const entry = {
      switch_id: id,
      sequence: 1,
      at: now,
      actor,
      action: 'create',
      kind: 'state',
      effect: 'draft',
      detail: '',
    }
    await transaction.insertInto(trafficJournal.name).values(entry).execute()
    return (await transaction
      .selectFrom(trafficSwitches.name)
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()) as SwitchRow
  })

export const listSwitches = async ({ kysely }: Database): Promise<readonly SwitchRow[]> =>
  (await kysely
    .selectFrom(trafficSwitches.name)
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()) as SwitchRow[]

/** Finds a switch by id, or by the name of its plan: then the newest that is not finished, else the newest. */
export async function findSwitch({ kysely }: Database, idOrName: string): Promise<SwitchRow | undefined> {
  const rows = (await kysely
    .selectFrom(trafficSwitches.name)
    .selectAll()
    .where((where) => where.or([where('id', '=', idOrName), where('name', '=', idOrName)]))
    .orderBy('created_at', 'desc')
    .execute()) as SwitchRow[]
  return rows.find(({ id }) => id === idOrName) ?? rows.find(({ state }) => !isOver(state)) ?? rows[0]
}

export const noSwitch = (idOrName: string): TrafficError =>
  new TrafficError(
    'invalid',
    `There is no traffic switch ${idOrName}. To see them: npx weir traffic status; to begin one: npx weir traffic prepare PLAN.`,
    { status: 404 },
  )

export async function getSwitch(database: Database, idOrName: string): Promise<SwitchRow> {
  const row = await findSwitch(database, idOrName)
  if (row === undefined) throw noSwitch(idOrName)
  return row
}

export const journalOf = async ({ kysely }: Database, id: string, after = 0): Promise<readonly JournalRow[]> =>
  (await kysely
    .selectFrom(trafficJournal.name)
    .selectAll()
    .where('switch_id', '=', id)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .execute()) as JournalRow[]

/** One process that works on one switch. Every entry renews the lease and fails if another process took over. */
export interface Run {
  row: SwitchRow
  /** Changes that depend on what another effect has just written are given as a function, which is called in turn. */
  write(
    kind: JournalKind,
    effect: string,
    detail?: unknown,
    changes?: SwitchChanges | ((row: SwitchRow) => SwitchChanges),
  ): Promise<void>
  /** Entries of this action since the last change of state: a run that was killed is continued after its last entry. */
  has(kind: JournalKind, effect: string): boolean
  /** The newest entry of a kind about an effect, whichever action wrote it. */
  lastDetail(kind: JournalKind, effect: string): string | undefined
  renew(): Promise<void>
  end(): Promise<void>
}

interface RunOptions {
  readonly expectedVersion?: number | undefined
  /** The process that works on the switch loses it: its next entry and its next write are refused. */
  readonly takesOver?: boolean
}

export async function startRun(
  database: Database,
  id: string,
  action: string,
  actor: string,
  { expectedVersion, takesOver = false }: RunOptions = {},
): Promise<Run> {
  const { kysely } = database
  const holder = newLeaseHolder()
  const row = await takeLease(database, id, holder, takesOver)
  if (expectedVersion !== undefined && row.version !== expectedVersion) {
    await release(database, id, holder)
    throw new TrafficError(
      'conflict',
      `Switch ${id} is at version ${row.version}, not ${expectedVersion}: somebody acted in between. Look at it again.`,
      { status: 412 },
    )
  }
  const entries = await journalOf(database, id)
  let sequence = entries.at(-1)?.sequence ?? 0
  const said = new Set<string>()
  const details = new Map(entries.map(({ kind, effect, detail }) => [`${kind} ${effect}`, detail]))
  for (const entry of entries) {
    if (entry.action !== action) said.clear()
    follow(said, entry.kind, entry.effect)
  }
  const touch = async (transaction: typeof kysely, changes: SwitchChanges): Promise<void> => {
    const result = await transaction
      .updateTable(trafficSwitches.name)
      .set({ ...changes, lease_until: new Date(Date.now() + LEASE_MS), updated_at: new Date() })
      .where('id', '=', id)
      .where('lease_holder', '=', holder)
      .executeTakeFirst()
    if (Number(result.numUpdatedRows) !== 1)
      throw new SwitchTaken(
        'conflict',
        `Another process took over switch ${id}; this one stops and writes nothing more.`,
      )
  }
  let lastWrite: Promise<void> = Promise.resolve()
  /** Routes are rolled back side by side, but their entries are written one after the other. */
  const afterOthers = (work: () => Promise<void>): Promise<void> => {
    const own = lastWrite.then(work)
    lastWrite = own.catch(() => undefined)
    return own
  }
  const run: Run = {
    row,
    has: (kind, effect) => said.has(`${kind} ${effect}`),
    lastDetail: (kind, effect) => details.get(`${kind} ${effect}`),
    write: (kind, effect, detail = '', wanted = {}) =>
      afterOthers(async () => {
        const asked = typeof wanted === 'function' ? wanted(run.row) : wanted
        const changes = typeof asked.problem === 'string' ? { ...asked, problem: storable(asked.problem) } : asked
        const version = run.row.version + 1
        await kysely.transaction().execute(async (transaction) => {
          await touch(transaction, { ...changes, version } as SwitchChanges)
          const text = storable(typeof detail === 'string' ? detail : JSON.stringify(detail))
          const entry = {
            switch_id: id,
            sequence: sequence + 1,
            at: new Date(),
            actor,
            action,
            kind,
            effect,
            detail: text,
          }
          await transaction.insertInto(trafficJournal.name).values(entry).execute()
        })
        sequence++
        details.set(`${kind} ${effect}`, typeof detail === 'string' ? detail : JSON.stringify(detail))
        follow(said, kind, effect)
        run.row = { ...run.row, ...changes, version }
      }),
    renew: () => touch(kysely, {}),
    end: () => release(database, id, holder),
  }
  return run
}

/** Messages of vendors and people may contain bytes that a text column refuses. */
const storable = (text: string): string => text.replaceAll('\u0000', ' ')

/** A new state is a new beginning, and after a failure everything is checked again. */
function follow(said: Set<string>, kind: string, effect: string): void {
  if (kind === 'state' || kind === 'failure') said.clear()
  else said.add(`${kind} ${effect}`)
}

/** A draft may be corrected; a switch under way keeps the plan that was checked. */
export async function replacePlan(
  database: Database,
  id: string,
  plan: Plan,
  actor: string,
  expectedVersion?: number,
): Promise<SwitchRow> {
  const run = await startRun(database, id, 'edit', actor, { expectedVersion })
  try {
    if (run.row.state !== 'draft')
      throw new TrafficError('conflict', `Switch ${id} is ${run.row.state}; only a draft can be edited.`)
    await run.write('state', 'draft', '', { name: plan.name, project: plan.project, ...planColumns(plan) })
  } finally {
    await run.end()
  }
  return getSwitch(database, id)
}

/** Tells whether a process is working on the switch. */
export const isLeased = ({ lease_holder: holder, lease_until: until }: SwitchRow): boolean =>
  holder !== null && until !== null && until.getTime() >= Date.now() && !isLeaseHolderGone(holder)

/** Another process, which was allowed to take over, works on the switch instead. */
export class SwitchTaken extends TrafficError {}

/** Passes by itself, for callers that can wait. */
export class SwitchBusy extends TrafficError {}

/** A busy process may write an entry at any time, but it gets in the way of a takeover less often than this. */
const MOST_ATTEMPTS = 50

async function takeLease(database: Database, id: string, holder: string, takesOver: boolean): Promise<SwitchRow> {
  const { kysely } = database
  for (let attempt = 0; attempt < (takesOver ? MOST_ATTEMPTS : 1); attempt++) {
    const row = (await kysely.selectFrom(trafficSwitches.name).selectAll().where('id', '=', id).executeTakeFirst()) as
      | SwitchRow
      | undefined
    if (row === undefined) throw noSwitch(id)
    if (isLeased(row) && !takesOver) break
    const result = await kysely
      .updateTable(trafficSwitches.name)
      .set({ lease_holder: holder, lease_until: new Date(Date.now() + LEASE_MS) })
      .where('id', '=', id)
      .where('version', '=', row.version)
      .where('lease_holder', row.lease_holder === null ? 'is' : '=', row.lease_holder)
      .executeTakeFirst()
    if (Number(result.numUpdatedRows) === 1) return row
  }
  throw new SwitchBusy('conflict', `Another process is working on switch ${id}. Try again when it is done.`)
}

const release = async ({ kysely }: Database, id: string, holder: string): Promise<void> => {
  await kysely
    .updateTable(trafficSwitches.name)
    .set({ lease_holder: null, lease_until: null })
    .where('id', '=', id)
    .where('lease_holder', '=', holder)
    .execute()
}

/** A switch that cannot be read must not hide the others. */
function shownPlan(row: SwitchRow): { readonly plan: Plan; readonly problem: string | null } {
  const problem = hasLostMemory(row) ? lostMemory(row.id) : row.problem
  try {
    return { plan: JSON.parse(row.plan) as Plan, problem }
  } catch (error) {
    const sentence = `Its stored plan cannot be read (${messageOf(error)}): put the plan in again, or roll back by hand.`
    return { plan: { steps: [] } as unknown as Plan, problem: sentence }
  }
}

/** The fields of a switch that people and programs get to see. */
export const describeSwitch = (row: SwitchRow) => ({
  id: row.id,
  name: row.name,
  project: row.project,
  state: row.state,
  step: row.step,
  version: row.version,
  ...shownPlan(row),
  targetGroupArn: row.target_group_arn,
  targetGroupArns: knownGroups(row),
  verifiedAt: row.verified_at?.toISOString() ?? null,
  dnsConfirmedAt: row.dns_confirmed_at?.toISOString() ?? null,
  actions: actionsFrom(row.state),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})
