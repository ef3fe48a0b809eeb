/** Asks the vendor and keeps every record as it came. A page and the checkpoint that counts it are stored together. */
import { sql } from 'kysely'
import { FatalError, messageOf } from '../errors.ts'
import { inputsOf } from './collect-inputs.ts'
import { type Collecting, collectRound, type Tally } from './collect-round.ts'
import { type CollectSpec, isAppending } from './collect-spec.ts'
import { closeRun, inputKey, openRun } from './collect-state.ts'
import { connectionSettings, openClient } from './connection.ts'
import type { Entity } from './entity.ts'
import type { ApiClient, HttpEvent } from './http/index.ts'
import { eachInLanes } from './lanes.ts'
import type { Place } from './quarantine.ts'
import { type RawTable, rawTable } from './raw.ts'
import { fileReceipt, type Receipt } from './receipts.ts'
import type { SourceTask } from './source-task.ts'
import type { SubtaskResult } from './subtask.ts'

const NOTHING: SubtaskResult = { records: 0, rows: 0, quarantined: 0 }
const DEFAULT_LANES = 10
const FETCH = 1000

export async function collect(entity: Entity, task: SourceTask, place: Place): Promise<SubtaskResult> {
  const spec = entity.spec.collect as CollectSpec<any, any>
  const { plugin, context } = task
  const settings = await connectionSettings(plugin, context.connectionId, task)
  const client = openClient(plugin, settings, (event) => report(task, event))
  try {
    const server = await probe(task, client)
    const base = {
      connectionId: context.connectionId,
      scope: context.scope,
      scopeConfig: context.scopeConfig,
      connection: context.connection,
      server,
    }
    if (spec.when && !spec.when(base)) return NOTHING
    return await collectWith({ entity, spec, task, place, client, base })
  } finally {
    await client.close()
  }
}

async function collectWith(collecting: Collecting): Promise<SubtaskResult> {
  const { entity, spec, task, place, client, base } = collecting
  const { database } = task
  const raw = rawTable(entity.spec.raw as string)
  const where = { raw_table: raw.name, params: task.params }
  const run = await openRun(database, where, { fullSync: task.fullSync, timeAfter: task.timeAfter ?? null }, new Date())
  const tally: Tally = { received: 0, expected: undefined, isUnchanged: false, gaps: [] }
  const file = async (status: string, message: string) => {
    const receipt: Receipt = {
      ...{ plugin: place.plugin, ...where, subtask: place.subtask, status, message },
      ...{ expected: tally.expected ?? null, received: tally.received, since: run.since, until: run.startedAt },
      stored: await countRaw(task, raw),
      requests: client.usage.requests,
      counted_requests: client.usage.counted,
    }
    await fileReceipt(database, receipt)
  }
  try {
    const lanes = task.plugin.connection.limits?.concurrency ?? DEFAULT_LANES
    const rounds = inputsOf({ entity, spec, task, client, base, run, where })
    await eachInLanes(rounds, lanes, task.signal, (round) => collectRound(collecting, run, raw, round, tally))
    if (tally.gaps.length > 0) {
      await file('gap', tally.gaps.join('; '))
      throw new FatalError(
        `${place.subtask}: ${tally.gaps.join('; ')}. What arrived is stored; the next run asks again.`,
      )
    }
    if ((run.isFull || !isAppending(spec)) && !tally.isUnchanged) {
      await sql`delete from ${sql.table(raw.name)} where params = ${task.params} and created_at < ${run.startedAt}`.execute(
        database.kysely,
      )
    } else if (spec.forEach) {
      await dropReplaced(task, raw, run.startedAt)
    }
    await closeRun(database, where, run)
    await file('complete', '')
  } catch (error) {
    if (tally.gaps.length === 0) await file('failed', messageOf(error)).catch(() => {})
    throw error
  }
  return { records: tally.received, rows: tally.received, quarantined: 0 }
}

/** What was asked for again replaces what was stored of it: a commit may be gone since. */
async function dropReplaced({ database, params }: SourceTask, raw: RawTable, startedAt: Date): Promise<void> {
  const inputs = (comparison: '>=' | '<') =>
    database.kysely
      .selectFrom(raw.name)
      .select(['id', 'input'])
      .where('params', '=', params)
      .where('created_at', comparison, startedAt)
      .where('input', 'is not', null)
      .stream(FETCH) as AsyncIterable<{ id: number; input: unknown }>
  const again = new Set<string>()
  for await (const { input } of inputs('>=')) again.add(keyOfStored(input))
  if (again.size === 0) return
  const replaced: number[] = []
  for await (const { id, input } of inputs('<')) if (again.has(keyOfStored(input))) replaced.push(id)
  for (let start = 0; start < replaced.length; start += FETCH) {
    await database.kysely
      .deleteFrom(raw.name)
      .where('id', 'in', replaced.slice(start, start + FETCH))
      .execute()
  }
}
/** JSON arrives as text from one engine. */
const keyOfStored = (input: unknown) => inputKey(typeof input === 'string' ? JSON.parse(input) : input)

async function countRaw({ database, params }: SourceTask, raw: RawTable): Promise<number> {
  const { rows } = await sql<{
    count: number
  }>`select count(*) as count from ${sql.table(raw.name)} where params = ${params}`.execute(database.kysely)
  return rows[0]?.count ?? 0
}

function report(task: SourceTask, event: HttpEvent): void {
  task.log?.(event.message)
  if (event.kind === 'waiting') task.progress({ waitingUntil: event.until })
}

const probed = new WeakMap<object, Promise<unknown>>()
/** Asked once a task: its subtasks share the options object. */
function probe({ plugin, options, signal }: SourceTask, client: ApiClient): Promise<unknown> {
  const ask = plugin.connection.probe
  if (!ask) return Promise.resolve(undefined)
  const answer = probed.get(options) ?? ask(async (path) => (await client.send({ path }, signal)).body)
  probed.set(options, answer)
  return answer
}
