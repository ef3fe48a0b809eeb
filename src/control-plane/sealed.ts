/** Reads and writes encrypted JSON, and describes the problem when a row cannot be read. */

import { messageOf, UserError } from '../errors.ts'
import type { PlanTask } from '../plugin-kit/spec/plan.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Blueprint } from './records.ts'

export type Problem = NonNullable<Blueprint['problem']>

export const sealJson = (value: unknown, { encrypt }: Secrets): string => encrypt(JSON.stringify(value))

/** Null when nothing is stored. */
export function openJson(stored: string | null, { decrypt }: Secrets): unknown {
  if (!stored) return null
  const text = decrypt(stored)
  try {
    return JSON.parse(text)
  } catch (error) {
    // The error must not quote the text, which may itself be a secret.
    throw new UserError('The stored value is damaged: it is not JSON.', { cause: error, status: 500 })
  }
}

/** Decrypts the options of a task. */
export function openOptions(stored: string | null, secrets: Secrets): PlanTask['options'] {
  const options = openJson(stored, secrets) ?? {}
  if (typeof options === 'object' && !Array.isArray(options)) return options
  throw new UserError('The stored options of the task are damaged.', { status: 500 })
}

interface Reader {
  /** Returns the result of `open`, or `instead` when it throws. */
  read<Value>(field: string, open: () => Value, instead: Value): Value
  /** Returns the fields that could not be read so far; empty when all could. */
  problem(): { problem?: Problem }
}

/** Collects errors per record instead of throwing, so that one unreadable row does not keep the others from being listed. */
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
