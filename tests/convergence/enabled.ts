/** Operations that histories leave out as long as the code cannot bear them; an empty table is the aim. */
import type { VendorUnderTest } from './support/vendor-under-test.ts'

/** Operation → why it is off. */
const OFF: Readonly<Record<string, string>> = {}

const OFF_FOR: Readonly<Record<string, Readonly<Record<string, string>>>> = {}

export function isEnabled({ name }: VendorUnderTest, operation: string): boolean {
  if (process.env.ONLY_OPERATIONS) return process.env.ONLY_OPERATIONS.split(',').includes(operation)
  return !(operation in OFF) && !(operation in (OFF_FOR[name] ?? {}))
}
