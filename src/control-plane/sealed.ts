/** JSON that is stored encrypted, and what to say of a row that cannot be read. */

import { messageOf, UserError } from '../errors.ts'
import type { PlanTask } from '../plugin-kit/spec/plan.ts'
import type { Secrets } from '../secrets.ts'

/** Shown with a record that is there and partly unreadable, so that it can be mended or deleted. */
export interface Problem {
  /** What is left empty in it. */
  readonly fields: readonly string[]
  readonly message: string
}

export const sealJson = (value: unknown, { encrypt }: Secrets): string => encrypt(JSON.stringify(value))

/** Null when nothing is stored. */
export function openJson(stored: string | null, { decrypt }: Secrets): unknown {
  if (!stored) return null
  const text = decrypt(stored)
  try {
    return JSON.parse(text)
  } catch (error) {
    // The text itself may be a secret.
    throw new UserError('The stored value is damaged: it is not JSON.', { cause: error, status: 500 })
  }
}

/** Options of a task. */
export function openOptions(stored: string | null, secrets: Secrets): PlanTask['options'] {
  const options = openJson(stored, secrets) ?? {}
  if (typeof options === 'object' && !Array.isArray(options)) return options
  throw new UserError('The stored options of the task are damaged.', { status: 500 })
}

export interface Reader {
  /** What `open` gives, or `instead` when it throws. */
  read<Value>(field: string, open: () => Value, instead: Value): Value
  /** What could not be read so far. */
  problem(): { problem?: Problem }
}

/** One unreadable row must not keep the others from being listed: what throws is noted with the record. */
export function createReader(): Reader {
  const failures = new Map<string, string>()
  return {
    read(field, open, instead) {
      try {
        return open()
      } catch (error) {
        failures.set(field, messageOf(error))
        return instead
      }
    },
    problem() {
      if (failures.size === 0) return {}
      const fields = [...failures.keys()]
      const why = [...new Set(failures.values())].join(' ')
      return { problem: { fields, message: `Unreadable: ${fields.join(', ')}. ${why}` } }
    },
  }
}
