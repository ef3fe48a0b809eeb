/**
 * Clients send plans back with secrets masked. A mask is replaced by the stored secret, but only if the task still talks to
 * the same servers.
 */

import { UserError } from '../../errors.ts'
import type { Plan, PlanTask } from '../../plugin-kit/spec/plan.ts'
import { isSecretName, serverOf } from '../../secrets/address-secrets.ts'
import { hasMask, isMask, maskSecrets } from '../../secrets/secrets.ts'

/** A text value within the options of a task. */
interface Leaf {
  /** Such as `proxy` or `headers.0.token`. */
  readonly place: string
  readonly text: string
  readonly isSecret: boolean
}

/**
 * Returns the plan with its secrets in place of masks. Throws when a mask matches no stored secret, since the mask itself
 * would be useless as a secret.
 */
export function restoreSecrets(input: Plan, stored: Plan | null = null, name = 'plan'): Plan {
  let byMasks: ReadonlyMap<string, PlanTask> | undefined
  return input.map((stage, row) =>
    stage.map((task, column) => {
      const masked = leavesOf(task.options).filter(isMasked)
      if (masked.length === 0) return task
      const same = stored?.[row]?.[column]
      byMasks ??= indexOf(stored ?? [])
      const origin = same && standsFor(task, masked, same) ? same : byMasks.get(keyOf(task, masked))
      if (origin) return { ...task, options: restored(task.options, origin.options) }
      const places = masked.map(({ place }) => place).join(', ')
      throw new UserError(
        `Task ${column + 1} in stage ${row + 1} of ${name}: ${places} is masked, and no secret is stored for it and this server: enter it again.`,
      )
    }),
  )
}

const isMasked = ({ text, isSecret }: Leaf) => (isSecret || text.includes('-----BEGIN ') ? isMask(text) : hasMask(text))

/** Indexes tasks by their masked content, because a task changes its position when others are inserted before it. */
const indexOf = (plan: Plan): ReadonlyMap<string, PlanTask> =>
  new Map(plan.flat().map((task) => [keyOf(task, leavesOf(maskSecrets(task.options)).filter(isMasked)), task]))

const keyOf = (task: PlanTask, masked: readonly Leaf[]): string =>
  JSON.stringify([task.plugin, goalOf(task), masked.map(({ place, text }) => [place, text])])

function standsFor(input: PlanTask, masked: readonly Leaf[], stored: PlanTask): boolean {
  if (input.plugin !== stored.plugin || goalOf(input) !== goalOf(stored)) return false
  const maskedTexts = new Map(leavesOf(maskSecrets(stored.options)).map(({ place, text }) => [place, text]))
  return masked.every(({ place, text }) => maskedTexts.get(place) === text)
}

/** Everything that decides where the secrets of a task are sent. */
function goalOf({ options }: PlanTask): string {
  const servers = leavesOf(options).flatMap(({ place, text }) => (serverOf(text) ? [[place, serverOf(text)]] : []))
  return JSON.stringify([String(options.connectionId ?? ''), options.pluginName ?? '', servers])
}

function leavesOf(value: unknown, place = '', isSecret = false): Leaf[] {
  if (typeof value === 'string') return [{ place, text: value, isSecret }]
  if (value === null || typeof value !== 'object') return []
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return entries.flatMap(([key, each]) =>
    leavesOf(each, place ? `${place}.${key}` : key, isSecret || isSecretName(key)),
  )
}

/** Replaces each mask in `input` by the value at the same place in `stored`. */
function restored<Value>(input: Value, stored: unknown, isSecret = false): Value {
  if (typeof input === 'string') return isMasked({ place: '', text: input, isSecret }) ? (stored as Value) : input
  if (input === null || typeof input !== 'object') return input
  const parts = stored as Readonly<Record<string | number, unknown>> | undefined
  if (Array.isArray(input)) return input.map((each, index) => restored(each, parts?.[index], isSecret)) as Value
  const entries = Object.entries(input).map(([key, each]) => [
    key,
    restored(each, parts?.[key], isSecret || isSecretName(key)),
  ])
  return Object.fromEntries(entries) as Value
}
