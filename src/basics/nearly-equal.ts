/** Sums in another order differ in their last digits, by far less than this share. */
const TOLERANCE = 1e-9

const nearlyEqualNumbers = (one: number, other: number) =>
  Object.is(one, other) || Math.abs(one - other) <= TOLERANCE * Math.max(Math.abs(one), Math.abs(other))

/**
 * Compares two JSON values, ignoring the last digits of numbers. Comparing rounded numbers would not work: two nearly equal
 * numbers may be rounded to different sides.
 */
export function nearlyEqual(one: unknown, other: unknown): boolean {
  if (typeof one === 'number' && typeof other === 'number') return nearlyEqualNumbers(one, other)
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [mine, theirs] = [new Map(Object.entries(one)), new Map(Object.entries(other))]
  return (
    mine.size === theirs.size &&
    [...mine].every(([name, value]) => theirs.has(name) && nearlyEqual(value, theirs.get(name)))
  )
}
