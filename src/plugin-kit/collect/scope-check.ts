/** Checks whether the connection can still see a scope. If the source refuses a list, it may refuse only this one, or all. */
import { UserError } from '../../errors.ts'
import { type ApiClient, HttpForbiddenError, type HttpResponse, safeUrl } from '../http/index.ts'
import type { SourceTask } from '../spec/plugin.ts'

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
  const answer = checked.get(options) ?? ask(task, client)
  checked.set(options, answer)
  return answer
}

async function ask({ plugin, context, signal }: SourceTask, client: ApiClient): Promise<string | undefined> {
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
