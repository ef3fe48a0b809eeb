/**
 * Makes a lookup table for names that come from outside. It has no prototype: a lookup of `constructor` or `toString` finds
 * nothing, and `__proto__` is a name like any other. `npm test` refuses plain objects in its place.
 */
export const byName = <Value>(entries: Readonly<Record<string, Value>> = {}): Record<string, Value> =>
  Object.assign(Object.create(null), entries)
