/** Operations that histories leave out because the code does not handle them yet, with the reason. The aim is to keep this empty. */
import type { VendorUnderTest } from './support/vendor-under-test.ts'

type Off = Readonly<Record<string, string>>

const OFF: Off = {}

const OFF_FOR: Readonly<Record<string, Off>> = {}

export function isEnabled({ name }: VendorUnderTest, operation: string): boolean {
  const { ONLY_OPERATIONS } = process.env
  if (ONLY_OPERATIONS) return ONLY_OPERATIONS.split(',').includes(operation)
  return !(operation in OFF) && !(operation in (OFF_FOR[name] ?? {}))
}
