/** Lives through a history on one database, collects the same vendor into an empty one, and compares the two. */

import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { deleteScopeData, scopeParams } from '../../../src/control-plane/scopes/scope-data.ts'
import type { Database } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { openDatabase } from '../../../src/database/open.ts'
import type { Table } from '../../../src/database/table.ts'
import { write } from '../../../src/database/write.ts'
import { domainTables } from '../../../src/domain/index.ts'
import { messageOf } from '../../../src/errors.ts'
import { kitTables } from '../../../src/plugin-kit/define/tables.ts'
import { applyRecords, scopesOfDelivery } from '../../../src/plugin-kit/push/apply-delivery.ts'
import { entityTables } from '../../../src/plugin-kit/raw/descendants.ts'
import type { Plugin, PluginSpec } from '../../../src/plugin-kit/spec/plugin.ts'
import { familyEntities } from '../../../src/plugin-kit/task/family.ts'
import { settingsTables } from '../../../src/plugin-kit/task/settings-tables.ts'
import { createLeases, type Leases } from '../../../src/runner/leases.ts'
import type { Membership } from '../../../src/runner/servers.ts'
import { leasesOfTask } from '../../../src/runner/task-leases.ts'
import { systemTables } from '../../../src/system/index.ts'
import { anyTable } from '../../support/any-table.ts'
import { emptyTables } from '../../support/empty-tables.ts'
import { programFile, startProgram } from '../../support/programs.ts'
import { clocks } from './clocks.ts'
import { dyingAfter } from './dying-database.ts'
import type { FaultKind } from './faults.ts'
import type { History, Operation, OwnOperationName } from './history.ts'
import { moveIn, type Neighbour } from './neighbour.ts'
import { CALCULATING, calculateProject, deleteProject, hasScope, mapProject, type ProjectRun } from './projects.ts'
import { runTask, type TaskOptions } from './run-task.ts'
import { differences, type Snapshot, snapshot } from './snapshot.ts'
import type { ChildTask } from './task-child.ts'
import type { RunningVendor, ScopeUnderTest, VendorUnderTest } from './vendor-under-test.ts'

/** Thrown when the stored rows differ from the vendor's data after a history, or when a run fails although nothing is wrong. */
export class LawBroken extends Error {}

export interface Machine {
  /** Throws LawBroken. */
  live(history: History): Promise<void>
  stop(): Promise<void>
}

const CONNECTION = 1
const CONFIG = 1
/** The number of failures of a lasting fault: more requests than a history makes. */
const FOR_EVER = 1e9
const ORIGIN = ['_raw_data_params', '_raw_data_table']
/** Columns of periods that still last: they end at the moment of the calculation. */
const UNTIL_NOW = new Set([
  'issue_status_history.end_date',
  'issue_status_history.status_time_minutes',
  'issue_assignee_history.end_date',
])
/** Both tasks belong to this server, which is alive. */
const ALIVE: Membership = {
  beat: async () => true,
  isDead: async () => false,
  forgetDead: async () => {},
  leave: async () => {},
}
const BEFORE_EVERYTHING = new Date('2000-01-01T00:00:00Z')
/** The time between two operations. */
const PAUSE_MINUTES = 3

interface Sides {
  readonly lived: Database
  readonly fresh: Database
}

export async function startMachine(vendor: VendorUnderTest, urls: readonly [string, string]): Promise<Machine> {
  // One retry proves as much as three. Every file sets this, because settings of the previous file are undone.
  process.env.API_RETRY = '1'
  const [lived, fresh] = await Promise.all([openDatabase(urls[0]), openDatabase(urls[1])])
  clocks.start()
  const running = await vendor.start(clocks.vendorNow)
  const tables = tablesOf(vendor)
  for (const database of [lived, fresh]) await migrate(database, tables)
  return {
    live: (history) => live({ vendor, url: urls[0], running, tables, sides: { lived, fresh } }, history),
    async stop() {
      clocks.stop()
      await running.stop()
      await Promise.all([lived.close(), fresh.close()])
    },
  }
}

interface Bench {
  readonly vendor: VendorUnderTest
  /** The address of the database that lives through histories. */
  readonly url: string
  readonly running: RunningVendor
  readonly tables: readonly Table<any>[]
  readonly sides: Sides
}

/** The present configuration, which both databases get. */
interface Life {
  plugin: Plugin
  rules: number
  readonly scopes: Set<number>
  readonly projects: Set<number>
  readonly regrouped: Set<string>
  /** The latest start date comes first. The last entry means no start date. */
  readonly startDates: readonly (Date | null)[]
  startDate: number
  hasRun: boolean
  readonly neighbour: Neighbour | undefined
  /** A change has happened that only a full sync can find. */
  needsFullSync: boolean
}

async function live(bench: Bench, history: History): Promise<void> {
  const { vendor, running, sides, tables } = bench
  clocks.begin()
  running.server.clear()
  running.server.onRequest = () => {}
  await running.reset()
  await Promise.all([emptyTables(sides.lived, tables), emptyTables(sides.fresh, tables)])
  const life: Life = {
    plugin: vendor.interfaces[0],
    rules: 0,
    scopes: new Set([0, 1]),
    projects: new Set([0, 1]),
    regrouped: new Set(),
    startDates: [vendor.startDate?.(clocks.vendorNow()) ?? new Date(clocks.vendorNow()), BEFORE_EVERYTHING, null],
    startDate: 1,
    hasRun: false,
    neighbour: await moveIn(sides.lived, vendor, running),
    needsFullSync: false,
  }
  await configure(bench, sides.lived, life)
  await life.neighbour?.run()
  for (const operation of history) {
    clocks.pass(PAUSE_MINUTES)
    await happen(bench, life, operation)
  }
  running.server.clear()
  clocks.setOurError(0)
  const touched = (await life.neighbour?.changes()) ?? []
  if (touched.length > 0) throw new LawBroken(['of another tool:', ...touched].join('\n'))
  clocks.pass(PAUSE_MINUTES)
  await configure(bench, sides.fresh, life)
  const besides = [life.neighbour, await moveIn(sides.fresh, vendor, running)]
  await bothEnd(besides.map(async (neighbour) => neighbour?.run()))
  await bothEnd([
    mustRunAll(bench, life, sides.lived, { fullSync: life.needsFullSync }),
    mustRunAll(bench, life, sides.fresh),
  ])
  const [found, expected] = await Promise.all([see(bench, life, sides.lived), see(bench, life, sides.fresh)])
  const different = differences(found, expected)
  if (different.length > 0) throw new LawBroken(different.join('\n'))
}

async function happen(bench: Bench, life: Life, [name, ...parameters]: Operation): Promise<void> {
  const { vendor, running } = bench
  const own = OWN[name as OwnOperationName]
  if (own) return own(bench, life, parameters)
  const change = vendor.changes[name]
  if (!change) throw new Error(`${vendor.name} knows no operation ${name}`)
  if (change.leavesNoTrace) life.needsFullSync = true
  running.change(name, parameters)
}

type Happen = (bench: Bench, life: Life, parameters: readonly any[]) => Promise<void>

const OWN: Record<OwnOperationName, Happen> = {
  run: (bench, life, [scope]) => mayRun(bench, life, bench.sides.lived, scope),
  async 'run both'(bench, life, [first, second]) {
    const other = first === second ? (first + 1) % bench.vendor.scopes.length : second
    await bothEnd([first, other].map((scope) => mayRun(bench, life, bench.sides.lived, scope)))
  },
  async 'run twice'(bench, life, [scope]) {
    const leases = createLeases(bench.sides.lived, () => ({ leaseHolder: 'machine', membership: ALIVE }))
    await bothEnd([1, 2].map((task) => leased(bench, life, { leases, scope, task })))
  },
  'full sync': (bench, life, [scope]) => mayRun(bench, life, bench.sides.lived, scope, { fullSync: true }),
  async kill(bench, life, [scope, statements]) {
    await mayRun(bench, life, dyingAfter(bench.sides.lived, statements), scope, { isExpectedToFail: true })
  },
  async cancel(bench, life, [scope, requests]) {
    const controller = new AbortController()
    let left = requests
    bench.running.server.onRequest = () => {
      if (left-- <= 0) controller.abort(new Error('cancelled'))
    }
    const options = { signal: controller.signal, isExpectedToFail: true }
    await mayRun(bench, life, bench.sides.lived, scope, options)
    bench.running.server.onRequest = () => {}
  },
  async 'kill process'({ vendor, running, url }, life, [scope, requests]) {
    if (!vendor.module) throw new Error(`${vendor.name} does not say where a process finds its plugins`)
    if (!life.scopes.has(scope)) return
    life.hasRun = true
    const options = taskOptions(vendor, scope)
    const timeAfter = startOf(life)?.toISOString() ?? null
    const plugin = life.plugin.name
    const module = pathToFileURL(programFile(vendor.module)).href
    const task: ChildTask = { url, module, plugin, options, timeAfter, clock: clocks.ours() }
    const child = startProgram(join(import.meta.dirname, 'task-child.ts'), [JSON.stringify(task)], { stdio: 'ignore' })
    const ended = once(child, 'exit')
    let left = requests
    running.server.onRequest = () => {
      if (left-- <= 0) child.kill('SIGKILL')
    }
    await ended
    running.server.onRequest = () => {}
  },
  async 'add scope'(bench, life, [scope]) {
    life.scopes.add(scope)
    await configure(bench, bench.sides.lived, life)
  },
  async 'delete scope'({ vendor, sides }, life, [scope]) {
    if (!life.scopes.delete(scope)) return
    const source = sourceOf(vendor)
    const { row } = vendor.scopes[scope] as ScopeUnderTest
    const plugins = [...vendor.interfaces, ...(vendor.neighbour ? [vendor.neighbour] : [])]
    await deleteScopeData(sides.lived, plugins, source, CONNECTION, row)
    const { table } = source.scope
    const keys = table.keys.map((position) => table.names[position] as string)
    let query = anyTable(sides.lived.kysely).deleteFrom(table.name).where('connection_id', '=', CONNECTION)
    for (const key of keys) if (key !== 'connection_id') query = query.where(key, '=', row[key])
    await query.execute()
  },
  async 'run project'(bench, life, [project]) {
    if (!life.projects.has(project)) return
    const run = projectRun(bench, life, bench.sides.lived)
    await mapProject(run, project)
    for (const scope of life.scopes) {
      if (hasScope(life.regrouped, project, scope)) await mayRun(bench, life, bench.sides.lived, scope)
    }
    await calculateProject(run, project)
  },
  async 'add project'(_bench, life, [project]) {
    life.projects.add(project)
  },
  async 'delete project'({ sides }, life, [project]) {
    if (life.projects.delete(project)) await deleteProject(sides.lived, project)
  },
  async regroup(_bench, { regrouped }, [project, scope]) {
    const place = `${project} ${scope}`
    if (!regrouped.delete(place)) regrouped.add(place)
  },
  async 'change rules'(bench, life, [rules]) {
    life.rules = rules
    await configure(bench, bench.sides.lived, life)
  },
  async 'start date'(_bench, life, [number]) {
    if (life.hasRun && number < life.startDate) life.needsFullSync = true
    life.startDate = number
  },
  async 'earlier start date'(_bench, life) {
    life.startDate = Math.min(life.startDate + 1, life.startDates.length - 1)
  },
  'later start date': (bench, life) => OWN['start date'](bench, life, [Math.max(life.startDate - 1, 0)]),
  async 'swap interface'({ vendor }, life) {
    const { interfaces } = vendor
    life.plugin = interfaces[(interfaces.indexOf(life.plugin) + 1) % interfaces.length] as Plugin
  },
  async 'our clock'(_bench, _life, [minutes]) {
    clocks.setOurError(minutes)
  },
  async 'vendor clock'(_bench, _life, [minutes]) {
    clocks.advanceVendor(minutes)
  },
  async deliver({ running, sides }, life, [number]) {
    const sent = running.sent?.at(-1 - (number % (running.sent.length || 1)))
    const spec = life.plugin.source as PluginSpec
    const effect = sent && spec.deliveries?.read(sent.event, sent.payload)
    const about = sent && spec.deliveries?.scopes(sent.payload)
    if (!effect || !about || !('records' in effect)) return
    const scopes = await scopesOfDelivery(sides.lived, spec, CONNECTION, about)
    for (const options of scopes) {
      await sides.lived.transaction((database) =>
        applyRecords(spec, { database, options, signal: new AbortController().signal }, effect.records),
      )
    }
  },
  async 'run neighbour'({ running }, { neighbour }) {
    const isTroubled = running.server.hasFaults
    await neighbour?.run().catch((error) => {
      if (!isTroubled) throw new LawBroken(`a run of the neighbour fails: ${messageOf(error)}`, { cause: error })
    })
  },
  'delete neighbour': async (_bench, { neighbour }, [scope]) => neighbour?.deleteData(scope),
  async wait(_bench, _life, [minutes]) {
    clocks.pass(minutes)
  },
  async fault({ running }, _life, [kind, list, times]) {
    running.server.fail(kind as FaultKind, list, times)
  },
  async 'lasting fault'({ running }, _life, [list]) {
    running.server.fail('server error', list, FOR_EVER)
  },
  async 'clear faults'({ running }) {
    running.server.clear()
  },
}

/** Runs a task as the runner does: it begins when no other task writes to the same data. */
async function leased(
  bench: Bench,
  life: Life,
  { leases, scope, task }: { readonly leases: Leases; readonly scope: number; readonly task: number },
): Promise<void> {
  const { vendor, sides } = bench
  const plan = { plugin: life.plugin.name, options: taskOptions(vendor, scope) }
  const names = await leasesOfTask(sides.lived, vendor.interfaces, plan)
  const lessee = { task_id: task, pipeline_id: task }
  const end = await leases.take(names, lessee, new AbortController().signal, async () => {})
  await mayRun(bench, life, sides.lived, scope).finally(end)
}

/** Waits for all runs even if one throws, because none may continue during the next operation. */
async function bothEnd(runs: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(runs)) if (outcome.status === 'rejected') throw outcome.reason
}

interface RunOptions extends TaskOptions {
  /** True if the run is killed or cancelled. */
  readonly isExpectedToFail?: boolean
}

/** Runs a scope if it is configured. The run may fail only if the vendor has faults or a failure is expected. */
async function mayRun(bench: Bench, life: Life, database: Database, scope: number, options: RunOptions = {}) {
  if (!life.scopes.has(scope)) return
  life.hasRun = true
  const isTroubled = options.isExpectedToFail || bench.running.server.hasFaults
  try {
    await runScope(bench, life, database, scope, options)
  } catch (error) {
    if (!isTroubled) throw new LawBroken(`a run of scope ${scope} fails: ${messageOf(error)}`, { cause: error })
  }
}

/** Runs what the pipelines of all projects would: mapping, scopes, metrics. */
async function mustRunAll(bench: Bench, life: Life, database: Database, options: RunOptions = {}) {
  const ofProjects = projectRun(bench, life, database)
  for (const project of [...life.projects].sort()) await mapProject(ofProjects, project)
  for (const scope of [...life.scopes].sort()) {
    await runScope(bench, life, database, scope, options).catch((error) => {
      const which = database === bench.sides.lived ? 'last run' : 'run on a fresh database'
      throw new LawBroken(`the ${which} of scope ${scope} fails: ${messageOf(error)}`, { cause: error })
    })
  }
  for (const project of [...life.projects].sort()) await calculateProject(ofProjects, project)
}

const projectRun = ({ vendor }: Bench, { scopes, regrouped }: Life, database: Database): ProjectRun => ({
  regrouped,
  database,
  source: sourceOf(vendor),
  connectionId: CONNECTION,
  scopes: new Map([...scopes].sort().map((scope) => [scope, scopeRow(vendor, scope)])),
  signal: new AbortController().signal,
})

const scopeRow = ({ scopes }: VendorUnderTest, scope: number) => ({
  ...scopes[scope]?.row,
  connection_id: CONNECTION,
  scope_config_id: CONFIG,
})

const runScope = ({ vendor }: Bench, life: Life, database: Database, scope: number, options: RunOptions) =>
  runTask(database, life.plugin, taskOptions(vendor, scope), { ...options, timeAfter: startOf(life) })

const startOf = ({ startDates, startDate }: Life): Date | null => startDates[startDate] ?? null

const taskOptions = ({ scopes }: VendorUnderTest, scope: number) => ({
  connectionId: CONNECTION,
  ...scopes[scope]?.options,
})

function sourceOf({ interfaces }: VendorUnderTest): PluginSpec {
  const source = interfaces[0].source as PluginSpec
  return source.settingsOf ?? source
}

async function configure({ vendor, running }: Bench, database: Database, { rules, scopes }: Life): Promise<void> {
  const source = sourceOf(vendor)
  const { connections, scopeConfigs } = settingsTables(source)
  const columns = (values: object) => values as any
  await write(database, [
    connections.row(columns({ id: CONNECTION, name: vendor.name, ...running.connection })),
    scopeConfigs.row(columns({ id: CONFIG, connection_id: CONNECTION, name: 'rules', ...vendor.rules[rules] })),
    ...[...scopes].map((scope) => {
      const row = scopeRow(vendor, scope)
      const origin = { _raw_data_table: `_raw_${source.name}_scopes` }
      return source.scope.table.row(
        columns({ ...row, ...origin, _raw_data_params: scopeParams(source, CONNECTION, row) }),
      )
    }),
  ])
}

const see = ({ vendor, tables }: Bench, { scopes }: Life, database: Database): Promise<Snapshot> =>
  snapshot(database, {
    tables: tables.filter((table) => isCompared(vendor, table)),
    params: new Set([...scopes].map((scope) => scopeParams(sourceOf(vendor), CONNECTION, vendor.scopes[scope]?.row))),
    isAside: (table, column) =>
      UNTIL_NOW.has(`${table}.${column}`) ||
      `${table}.${column}` in (vendor.unlike ?? {}) ||
      (ORIGIN.includes(column) && hasManySources(vendor, table)),
  })

/** Whether records of several raw tables make the same rows, such as those of people. Then the origin is the last of them. */
function hasManySources({ interfaces }: VendorUnderTest, table: string): boolean {
  const subtasks = interfaces.flatMap((plugin) => plugin.subtasks)
  const makers = subtasks.filter(({ step, writes }) => step !== 'collect' && writes.includes(table))
  const raw = new Set(makers.filter(({ step }) => step === 'extract').map(({ reads }) => reads[0]))
  const tool = new Set(makers.filter(({ step }) => step === 'convert').map(({ reads }) => reads[0] as string))
  return (
    raw.size > 1 || tool.size > 1 || [...tool].some((each) => hasManySources({ interfaces } as VendorUnderTest, each))
  )
}

const tablesOf = ({ interfaces, neighbour }: VendorUnderTest): Table<any>[] => [
  ...new Set([
    ...[systemTables, kitTables, domainTables].flat(),
    ...[...interfaces, ...(neighbour ? [neighbour] : []), ...CALCULATING].flatMap(({ tables }) => tables),
    // One interface reads the rows that other interfaces of the same tool have left.
    ...entityTables(interfaces.flatMap(({ source }) => (source ? familyEntities(source) : []))),
  ]),
]

function isCompared(vendor: VendorUnderTest, table: Table<any>): boolean {
  const { connections, scopeConfigs } = settingsTables(sourceOf(vendor))
  if (table === connections || table === scopeConfigs || table.name.startsWith('_raw_')) return false
  return domainTables.includes(table) || vendor.interfaces.some(({ tables }) => tables.includes(table))
}
