/** Decides whether an answer that there is nothing may be believed. If it is, the stored records are deleted. */
import { UserError } from '../../../errors.ts'
import { type ApiClient, HttpFatalError, HttpForbiddenError, type HttpResponse, safeUrl } from '../../http/index.ts'
import { extractedTables } from '../../raw/descendants.ts'
import { storedGaps } from '../../raw/gaps.ts'
import { rawTable } from '../../raw/raw-table.ts'
import type { SourceTask } from '../../spec/plugin.ts'
import type { Collection, List } from '../collection.ts'

interface Answer {
  readonly status: number
  readonly address: string
}

const KEPT = 'What was collected of it is kept.'

/** Throws if the stored records must be kept. */
export async function requireAbsence(collection: Collection, list: List, { status, address }: Answer): Promise<void> {
  const { spec, task, client, run } = collection
  const isWhole = list.key === ''
  // The whole scope may be gone. Then none of its lists may be treated as empty.
  if (isWhole || run.hasRecords) await requireScope(task, client, status)
  if (!run.hasRecords) return
  const fail = (reason: string) =>
    new HttpFatalError(`${address} answers ${status}: ${reason} ${KEPT}`, { address, status })
  if (isWhole && spec.canBeSwitchedOff) throw fail('it was switched off, or is not there any more.')
  if (!isWhole && (await isParentLost(collection))) throw fail('so did the list that names it.')
}

const known = new WeakMap<Collection, Promise<boolean>>()

/** True if the source also refused the list that the inputs come from. */
function isParentLost(collection: Collection): Promise<boolean> {
  const answer = known.get(collection) ?? askParents(collection)
  known.set(collection, answer)
  return answer
}

async function askParents({ spec, task }: Collection): Promise<boolean> {
  const { database, plugin, params } = task
  const parent = spec.forEach?.table
  for (const entity of parent ? plugin.entities : []) {
    if (!entity.spec.raw || !extractedTables(entity).includes(parent)) continue
    const gaps = await storedGaps(database, { raw_table: rawTable(entity.spec.raw).name, params })
    if (gaps.some(({ list, kind }) => list === '' && kind === 'lost')) return true
  }
  return false
}

/** Statuses of answers about a scope that is gone or hidden. */
const OUT_OF_REACH = [403, 404, 410]

const checked = new WeakMap<object, Promise<string | undefined>>()

/**
 * Throws if the scope itself cannot be reached. The source is asked once per task, after an answer that suggests it. Returns the
 * source's remark about a scope that exists.
 */
export function requireScope(
  task: SourceTask,
  client: ApiClient,
  status: number | undefined,
): Promise<string | undefined> {
  const { plugin, options } = task
  if (!plugin.scope.check || status === undefined || !OUT_OF_REACH.includes(status)) return Promise.resolve(undefined)
  const answer = checked.get(options) ?? askForScope(task, client)
  checked.set(options, answer)
  return answer
}

async function askForScope({ plugin, context, signal }: SourceTask, client: ApiClient): Promise<string | undefined> {
  const check = plugin.scope.check?.(context.scope)
  if (!check) return undefined
  const { finds, ...request } = check
  const answer = await client.send({ ...request, accept: OUT_OF_REACH }, signal).catch((error) => {
    if (error instanceof HttpForbiddenError) return { status: 403, url: error.address } as HttpResponse
    throw error
  })
  const isRefused = OUT_OF_REACH.includes(answer.status)
  const found = isRefused ? undefined : finds?.(answer.body)
  if (!isRefused && (found?.isThere ?? true)) return found?.remark
  throw new UserError(
    `${safeUrl(answer.url)} ${isRefused ? `answers ${answer.status}` : 'does not list it'}: the ${plugin.scope.title.toLowerCase()} is gone, was renamed, or is hidden from the connection's credentials. What was collected of it is kept. Check it at the source, or remove it from the project`,
  )
}
